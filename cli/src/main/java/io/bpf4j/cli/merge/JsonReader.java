package io.bpf4j.cli.merge;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads a line with an object of JSON, strictly by RFC 8259, and keeps what {@code JsonLine} writes: 64-bit integers,
 * and lone surrogates, which stand for bytes. <i>Confined.</i>
 *
 * <p>Objects become maps in their order, arrays lists, whole numbers {@link Long} or, above {@link Long#MAX_VALUE}, {@link
 * BigInteger}, other numbers {@link Double}.
 *
 * <p>Tested by {@code JsonReaderTest}.
 */
public final class JsonReader {
    /** The maximum depth, more than the commands' records need; each level takes a part of the thread's stack. */
    private static final int MAX_DEPTH = 16;

    /** The maximum length of a number, more than a 64-bit integer and a double need. */
    private static final int MAX_NUMBER = 40;

    private static final BigInteger MIN = BigInteger.valueOf(Long.MIN_VALUE);
    private static final BigInteger END = BigInteger.ONE.shiftLeft(Long.SIZE);

    private final String text;
    private int at;
    private int depth;

    private JsonReader(String text) {
        this.text = text;
    }

    /**
     * Reads the object that is the whole line.
     *
     * @throws Refusal if the line is not an object, a name occurs twice in an object, or a number needs more than 64
     *     bits
     */
    public static Map<String, @Nullable Object> object(String line) {
        JsonReader reader = new JsonReader(line);
        reader.space();
        if (reader.at == line.length() || line.charAt(reader.at) != '{') {
            throw reader.wrong("an object");
        }
        Map<String, @Nullable Object> object = reader.members();
        reader.space();
        if (reader.at < line.length()) {
            throw reader.wrong("the end of the line");
        }
        return object;
    }

    private Refusal wrong(String expected) {
        return new Refusal("is not JSON: " + expected + " is expected at column " + (at + 1));
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private boolean taken(char c) {
        space();
        if (at < text.length() && text.charAt(at) == c) {
            at++;
            return true;
        }
        return false;
    }

    private void take(char c) {
        if (!taken(c)) {
            throw wrong("'" + c + "'");
        }
    }

    private @Nullable Object value() {
        space();
        return switch (at < text.length() ? text.charAt(at) : '\0') {
            case '{' -> members();
            case '[' -> elements();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private @Nullable Object word(String word, @Nullable Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("a value");
        }
        at += word.length();
        return value;
    }

    private void enter() {
        if (++depth > MAX_DEPTH) {
            throw new Refusal("has more than " + MAX_DEPTH + " nested objects and arrays");
        }
    }

    private Map<String, @Nullable Object> members() {
        enter();
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        take('{');
        if (!taken('}')) {
            do {
                space();
                String name = string();
                take(':');
                if (members.containsKey(name)) {
                    throw new Refusal("has the field " + Refusal.quoted(name) + " twice in one object");
                }
                members.put(name, value());
            } while (taken(','));
            take('}');
        }
        depth--;
        return members;
    }

    private List<@Nullable Object> elements() {
        enter();
        List<@Nullable Object> elements = new ArrayList<>();
        take('[');
        if (!taken(']')) {
            do {
                elements.add(value());
            } while (taken(','));
            take(']');
        }
        depth--;
        return elements;
    }

    private String string() {
        if (at == text.length() || text.charAt(at) != '"') {
            throw wrong("a string");
        }
        at++;
        int start = at;
        StringBuilder unescaped = null;
        while (true) {
            if (at == text.length() || text.charAt(at) < ' ') {
                throw wrong("the end of a string");
            }
            char c = text.charAt(at);
            if (c == '"') {
                String rest = text.substring(start, at++);
                return unescaped == null ? rest : unescaped.append(rest).toString();
            }
            if (c == '\\') {
                unescaped = (unescaped == null ? new StringBuilder() : unescaped).append(text, start, at);
                at++;
                unescaped.append(escaped());
                start = at;
            } else {
                at += character();
            }
        }
    }

    /** The number of chars of the character at this position. Lone surrogates are always escaped. */
    private int character() {
        int point = text.codePointAt(at);
        if (point >= Character.MIN_SURROGATE && point <= Character.MAX_SURROGATE) {
            throw new Refusal("is not UTF-8 at column " + (at + 1));
        }
        return Character.charCount(point);
    }

    private char escaped() {
        char c = at < text.length() ? text.charAt(at++) : '\0';
        return switch (c) {
            case '"', '\\', '/' -> c;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> {
                at--;
                throw wrong("an escape");
            }
        };
    }

    private char unit() {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            int digit = at < text.length() && text.charAt(at) < 0x80 ? Character.digit(text.charAt(at), 16) : -1;
            if (digit < 0) {
                throw wrong("a digit of an escape");
            }
            unit = unit << 4 | digit;
            at++;
        }
        return (char) unit;
    }

    private Number number() {
        int start = at;
        if (at < text.length() && text.charAt(at) == '-') {
            at++;
        }
        int digits = at;
        digits("a value");
        if (at - digits > 1 && text.charAt(digits) == '0') {
            at = digits + 1;
            throw wrong("no digit after 0");
        }
        boolean whole = true;
        if (at < text.length() && text.charAt(at) == '.') {
            whole = false;
            at++;
            digits("a digit");
        }
        if (at < text.length() && (text.charAt(at) | 0x20) == 'e') {
            whole = false;
            at++;
            if (at < text.length() && "+-".indexOf(text.charAt(at)) >= 0) {
                at++;
            }
            digits("a digit");
        }
        String number = text.substring(start, at);
        if (number.length() > MAX_NUMBER) {
            throw tooLarge(number);
        }
        return whole ? whole(number) : fraction(number);
    }

    private void digits(String expected) {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw wrong(expected);
        }
    }

    private static Number whole(String number) {
        BigInteger value = new BigInteger(number);
        if (value.compareTo(MIN) < 0 || value.compareTo(END) >= 0) {
            throw tooLarge(number);
        }
        return value.bitLength() < Long.SIZE ? (Number) value.longValueExact() : value;
    }

    private static Number fraction(String number) {
        double value = Double.parseDouble(number);
        if (Double.isInfinite(value)) {
            throw tooLarge(number);
        }
        return value;
    }

    private static Refusal tooLarge(String number) {
        return new Refusal("has the number " + Refusal.quoted(number) + ", which needs more than 64 bits");
    }
}
