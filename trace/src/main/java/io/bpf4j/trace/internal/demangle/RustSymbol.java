package io.bpf4j.trace.internal.demangle;

import java.util.Map;

/**
 * Reads the symbol of a Rust function, scheme v0 (RFC 2603; "Symbol Mangling" in the book of rustc): {@code
 * _RNvCs1234_7mycrate3foo} is {@code mycrate::foo}.
 *
 * <p>Unlike a C++ name, the name can be written while the symbol is read. {@code B} with a position repeats an earlier
 * part, which is read again from there. Hashes of crates and types of constants are omitted, as c++filt omits them.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code DemanglerTest}.
 */
final class RustSymbol {
    private static final int START = 2;

    private static final Map<Character, String> BASIC = Map.ofEntries(
            Map.entry('a', "i8"),
            Map.entry('b', "bool"),
            Map.entry('c', "char"),
            Map.entry('d', "f64"),
            Map.entry('e', "str"),
            Map.entry('f', "f32"),
            Map.entry('h', "u8"),
            Map.entry('i', "isize"),
            Map.entry('j', "usize"),
            Map.entry('l', "i32"),
            Map.entry('m', "u32"),
            Map.entry('n', "i128"),
            Map.entry('o', "u128"),
            Map.entry('p', "_"),
            Map.entry('s', "i16"),
            Map.entry('t', "u16"),
            Map.entry('u', "()"),
            Map.entry('v', "..."),
            Map.entry('x', "i64"),
            Map.entry('y', "u64"),
            Map.entry('z', "!"));

    private static final int MAX_STEPS = 1 << 16;

    private final Cursor in;
    private final Output out = new Output();
    private int steps;
    /** Above 0 inside a part that is read but not written. */
    private int silent;
    /** The number of lifetimes that the enclosing types declare: {@code for<'a>}. */
    private long boundLifetimes;

    private RustSymbol(String symbol) {
        in = new Cursor(symbol, START);
    }

    static String demangle(String symbol) throws MalformedSymbolException {
        RustSymbol reader = new RustSymbol(symbol);
        reader.path(true);
        if (Character.isUpperCase(reader.in.peek())) {
            // The crate that instantiated the generic function; it is not written.
            reader.silent++;
            reader.path(false);
        }
        char end = reader.in.peek();
        if (end != 0 && end != '.' && end != '$') {
            throw new MalformedSymbolException();
        }
        return reader.out.toString();
    }

    private void write(String text) throws MalformedSymbolException {
        if (silent == 0) {
            out.text(text);
        }
    }

    private void enter() throws MalformedSymbolException {
        step();
        in.enter();
    }

    private void step() throws MalformedSymbolException {
        if (++steps > MAX_STEPS) {
            throw new MalformedSymbolException();
        }
    }

    private interface Part {
        void read() throws MalformedSymbolException;
    }

    /** Reads the position of an earlier part, and that part again. */
    private void repeat(Part part) throws MalformedSymbolException {
        int before = in.at() - 1;
        long place = START + base62();
        // A number beyond 64 bits may be negative here.
        if (place < START || place >= before) {
            throw new MalformedSymbolException();
        }
        int after = in.at();
        if (silent == 0) {
            in.moveTo((int) place);
            part.read();
            in.moveTo(after);
        }
    }

    /** @param value whether the path is a value, whose arguments are written as {@code ::<T>}, not as {@code <T>} */
    private void path(boolean value) throws MalformedSymbolException {
        enter();
        switch (in.next()) {
            case 'C' -> {
                disambiguator();
                write(identifier());
            }
            case 'N' -> nested(value);
            case 'M' -> {
                implementation();
                write("<");
                type();
                write(">");
            }
            case 'X' -> {
                implementation();
                asTrait();
            }
            case 'Y' -> asTrait();
            case 'I' -> {
                path(value);
                write(value ? "::<" : "<");
                for (int i = 0; !in.skip("E"); i++) {
                    write(i == 0 ? "" : ", ");
                    genericArgument();
                }
                write(">");
            }
            case 'B' -> repeat(() -> path(value));
            default -> throw new MalformedSymbolException();
        }
        in.leave();
    }

    private void nested(boolean value) throws MalformedSymbolException {
        char namespace = in.next();
        if (!Character.isLetter(namespace)) {
            throw new MalformedSymbolException();
        }
        path(value);
        long number = disambiguator();
        String name = identifier();
        if (Character.isUpperCase(namespace)) {
            String kind = namespace == 'C' ? "closure" : namespace == 'S' ? "shim" : String.valueOf(namespace);
            write("::{" + kind + (name.isEmpty() ? "" : ":" + name) + "#" + number + "}");
        } else if (!name.isEmpty()) {
            write("::" + name);
        }
    }

    private void asTrait() throws MalformedSymbolException {
        write("<");
        type();
        write(" as ");
        path(false);
        write(">");
    }

    /** Skips the path of an implementation, which is not part of the name. */
    private void implementation() throws MalformedSymbolException {
        disambiguator();
        silent++;
        path(false);
        silent--;
    }

    private void genericArgument() throws MalformedSymbolException {
        if (in.skip("L")) {
            lifetime(base62());
        } else if (in.skip("K")) {
            constant();
        } else {
            type();
        }
    }

    private void type() throws MalformedSymbolException {
        enter();
        char c = in.next();
        String basic = BASIC.get(c);
        if (basic != null) {
            write(basic);
            in.leave();
            return;
        }
        switch (c) {
            case 'A' -> {
                write("[");
                type();
                write("; ");
                constant();
                write("]");
            }
            case 'S' -> {
                write("[");
                type();
                write("]");
            }
            case 'T' -> tuple();
            case 'R', 'Q' -> {
                write("&");
                if (in.skip("L")) {
                    long lifetime = base62();
                    if (lifetime != 0) {
                        lifetime(lifetime);
                        write(" ");
                    }
                }
                write(c == 'Q' ? "mut " : "");
                type();
            }
            case 'P', 'O' -> {
                write(c == 'P' ? "*const " : "*mut ");
                type();
            }
            case 'F' -> bound(this::function);
            case 'D' -> {
                write("dyn ");
                bound(this::traits);
                in.expect("L");
                long lifetime = base62();
                if (lifetime != 0) {
                    write(" + ");
                    lifetime(lifetime);
                }
            }
            case 'B' -> repeat(this::type);
            default -> {
                in.moveTo(in.at() - 1);
                path(false);
            }
        }
        in.leave();
    }

    private void tuple() throws MalformedSymbolException {
        write("(");
        int count = 0;
        while (!in.skip("E")) {
            write(count++ == 0 ? "" : ", ");
            type();
        }
        write(count == 1 ? ",)" : ")");
    }

    private void bound(Part part) throws MalformedSymbolException {
        long outer = boundLifetimes;
        if (in.skip("G")) {
            long count = base62() + 1;
            write("for<");
            for (long i = 0; i < count; i++) {
                step();
                write(i == 0 ? "" : ", ");
                boundLifetimes++;
                lifetime(1);
            }
            write("> ");
        }
        part.read();
        boundLifetimes = outer;
    }

    private void function() throws MalformedSymbolException {
        write(in.skip("U") ? "unsafe " : "");
        if (in.skip("K")) {
            String abi = in.skip("C") ? "C" : identifier().replace('_', '-');
            write("extern \"" + abi + "\" ");
        }
        write("fn(");
        for (int i = 0; !in.skip("E"); i++) {
            write(i == 0 ? "" : ", ");
            type();
        }
        write(")");
        if (!in.skip("u")) {
            write(" -> ");
            type();
        }
    }

    private void traits() throws MalformedSymbolException {
        for (int i = 0; !in.skip("E"); i++) {
            write(i == 0 ? "" : " + ");
            trait();
        }
    }

    /** Reads a trait, and writes its associated types among its arguments: {@code Iterator<Item = u8>}. */
    private void trait() throws MalformedSymbolException {
        boolean open = openPath();
        while (in.skip("p")) {
            write(open ? ", " : "<");
            open = true;
            write(identifier() + " = ");
            type();
        }
        write(open ? ">" : "");
    }

    /** Reads a path and leaves its list of arguments open; returns whether it has such a list. */
    private boolean openPath() throws MalformedSymbolException {
        enter();
        boolean[] open = {false};
        if (in.skip("B")) {
            repeat(() -> open[0] = openPath());
        } else if (in.skip("I")) {
            path(false);
            write("<");
            for (int i = 0; !in.skip("E"); i++) {
                write(i == 0 ? "" : ", ");
                genericArgument();
            }
            open[0] = true;
        } else {
            path(false);
        }
        in.leave();
        return open[0];
    }

    private void constant() throws MalformedSymbolException {
        enter();
        char type = in.next();
        switch (type) {
            case 'B' -> repeat(this::constant);
            case 'p' -> write("_");
            case 'b' -> {
                String digits = hexDigits();
                write(digits.equals("0") ? "false" : digits.equals("1") ? "true" : "0x" + digits);
            }
            case 'c' -> {
                String digits = hexDigits();
                int code = digits.length() > 6 ? -1 : Integer.parseInt(digits, 16);
                if (!Character.isValidCodePoint(code) || Character.getType(code) == Character.SURROGATE) {
                    throw new MalformedSymbolException();
                }
                write(
                        Character.isISOControl(code) || code == '\'' || code == '\\'
                                ? "'\\u{" + digits + "}'"
                                : "'" + Character.toString(code) + "'");
            }
            default -> {
                if ("ahilmnostxyj".indexOf(type) < 0) {
                    throw new MalformedSymbolException();
                }
                write(in.skip("n") ? "-" : "");
                String digits = hexDigits();
                write(digits.length() > 16 ? "0x" + digits : Long.toUnsignedString(Long.parseUnsignedLong(digits, 16)));
            }
        }
        in.leave();
    }

    private String hexDigits() throws MalformedSymbolException {
        StringBuilder digits = new StringBuilder();
        while (!in.skip("_")) {
            char c = in.next();
            if (Character.digit(c, 16) < 0 || Character.isUpperCase(c)) {
                throw new MalformedSymbolException();
            }
            digits.append(c);
        }
        return digits.isEmpty() ? "0" : digits.toString();
    }

    /** Lifetime 0 has no name; 1 is the last one declared. */
    private void lifetime(long index) throws MalformedSymbolException {
        if (index == 0) {
            write("'_");
            return;
        }
        long depth = boundLifetimes - index;
        if (depth < 0) {
            throw new MalformedSymbolException();
        }
        write(depth < 26 ? "'" + (char) ('a' + depth) : "'_" + depth);
    }

    /** {@code s_} is 1, {@code s0_} is 2; an absent one is 0. */
    private long disambiguator() throws MalformedSymbolException {
        return in.skip("s") ? base62() + 1 : 0;
    }

    private long base62() throws MalformedSymbolException {
        if (in.skip("_")) {
            return 0;
        }
        long value = 0;
        while (!in.skip("_")) {
            char c = in.next();
            int digit = c >= '0' && c <= '9'
                    ? c - '0'
                    : c >= 'a' && c <= 'z' ? c - 'a' + 10 : c >= 'A' && c <= 'Z' ? c - 'A' + 36 : -1;
            if (digit < 0) {
                throw new MalformedSymbolException();
            }
            value = value * 62 + digit; // overflows for some hashes of crates, which are not used
        }
        return value + 1;
    }

    private String identifier() throws MalformedSymbolException {
        boolean coded = in.skip("u");
        // A number has no leading zeros: "00" are two empty identifiers.
        int length = in.skip("0") ? 0 : in.number();
        in.skip("_");
        String name = in.take(length);
        return coded ? Punycode.decode(name) : name;
    }
}
