package io.bpf4j.btf;

import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.internal.text.CString;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Shows a value of a C type, such as a map's, when its type is known only from BTF.
 *
 * <pre>
 *   {.pid = 4711, .comm = "java", .state = RUNNING, .seen = [1, 0 (15 times)], .next = 0xffff888100a4c000}
 * </pre>
 *
 * <p>All members of a union are shown: nothing says which of them was written. An array of {@code char} is text up to
 * its first NUL. The time and the text are bounded by the size of the value, also if the BTF is malformed: {@link
 * MalformedDataException}.
 *
 * <p>Tested by {@code TypedValueTest}.
 */
public final class TypedValue {
    private static final int MAX_NESTING = 64;

    /** This number of characters of a name counts as one more part. */
    private static final int NAME_CHARACTERS = 8;

    private final Btf btf;
    private final ByteView value;
    private final Visitor visitor;

    /**
     * How many more parts may be visited; of a text, and of an array whose elements are compared, each byte is one.
     * Members of unions overlap, so there may be more than bytes.
     */
    private long parts;

    private TypedValue(Btf btf, ByteView value, Visitor visitor) {
        this.btf = btf;
        this.value = value;
        this.visitor = visitor;
        this.parts = (1 << 16) + 64 * value.size();
    }

    /** Receives the parts of a value in their order. */
    public interface Visitor {
        /** A struct or union begins, or a section of variables. */
        void beginStruct();

        /**
         * The next part is a member.
         *
         * @param name empty for a struct or union without a name, whose members count as the outer one's
         */
        void member(String name);

        void endStruct();

        void beginArray();

        void endArray();

        /**
         * The last element of an array is the first of a run of equal ones. A visitor that returns false gets each of
         * them.
         *
         * @param count at least 4
         */
        default boolean repeated(long count) {
            return false;
        }

        /** An integer of up to 64 bits, extended to 64. */
        void integer(long number, boolean signed);

        /** An integer of 128 bits. */
        void integer(BigInteger number);

        void floatingPoint(double number);

        void bool(boolean is);

        /** A value of an enumeration that has a name for it. */
        void constant(String name, long number, boolean signed);

        void pointer(long address);

        /** The bytes of a {@code char} array before the first NUL, in any encoding. */
        void text(byte[] bytes);

        /** The bytes of a type without a known form. */
        void bytes(byte[] bytes);
    }

    /**
     * Visits a value.
     *
     * @param type id of its type; a section of variables is visited as a struct of these
     * @param value the bytes, in the byte order of the machine that they are from
     * @throws MalformedDataException if the type is malformed, or larger than the value
     */
    public static void visit(Btf btf, int type, ByteView value, Visitor visitor) {
        new TypedValue(btf, value, visitor).visit(type, 0, 0);
    }

    /**
     * A value as text in one line. Of text and names, all but the printable characters of ASCII are escaped.
     *
     * @throws MalformedDataException as {@link #visit}
     */
    public static String text(Btf btf, int type, ByteView value) {
        ValueText text = new ValueText();
        visit(btf, type, value, text);
        return text.toString();
    }

    private void visit(int id, long offset, int nesting) {
        spend(id, nesting > MAX_NESTING ? Long.MAX_VALUE : 1);
        int plain = btf.resolve(id);
        switch (btf.type(plain)) {
            case BtfType.Int type
            when type.bits() < 8 * type.size() -> bits(plain, 8 * offset + type.bitOffset(), type.bits());
            case BtfType.Int type -> integer(type, offset);
            case BtfType.FloatingPoint type -> floatingPoint(type, offset);
            case BtfType.Ptr _ -> visitor.pointer(unsigned(offset, btf.pointerSize()));
            case BtfType.Enumeration type -> enumeration(plain, type, number(offset, type.size(), type.signed()));
            case BtfType.Array type -> array(plain, type, offset, nesting);
            case BtfType.Composite type -> composite(type, offset, nesting);
            case BtfType.Datasec type -> section(type, offset, nesting);
            case BtfType.Var type -> visit(type.type(), offset, nesting + 1);
            default -> visitor.bytes(nesting == 0 ? value.toByteArray() : new byte[0]);
        }
    }

    private void spend(int id, long some) {
        if (some > parts) {
            throw new MalformedDataException(
                    btf.source(),
                    0,
                    "type " + id + " has more parts than a value of " + value.size() + " bytes can have");
        }
        parts -= some;
    }

    private void integer(BtfType.Int type, long offset) {
        if (type.size() == 16) {
            byte[] bytes = value.slice(offset, 16).toByteArray();
            if (value.order() == ByteOrder.LITTLE_ENDIAN) {
                reverse(bytes);
            }
            visitor.integer(type.isSigned() ? new BigInteger(bytes) : new BigInteger(1, bytes));
        } else if (type.isBool()) {
            visitor.bool(unsigned(offset, type.size()) != 0);
        } else {
            visitor.integer(number(offset, type.size(), type.isSigned()), type.isSigned());
        }
    }

    private static void reverse(byte[] bytes) {
        for (int i = 0; i < bytes.length / 2; i++) {
            byte other = bytes[bytes.length - 1 - i];
            bytes[bytes.length - 1 - i] = bytes[i];
            bytes[i] = other;
        }
    }

    private long unsigned(long offset, int size) {
        return number(offset, size, false);
    }

    private long number(long offset, int size, boolean signed) {
        return switch (size) {
            case 1 -> signed ? value.s8(offset) : value.u8(offset);
            case 2 -> signed ? value.s16(offset) : value.u16(offset);
            case 4 -> signed ? value.s32(offset) : value.u32(offset);
            case 8 -> value.s64(offset);
            default -> throw value.malformed(offset, "a number of " + size + " bytes");
        };
    }

    private void floatingPoint(BtfType.FloatingPoint type, long offset) {
        switch (type.size()) {
            case 4 -> visitor.floatingPoint(Float.intBitsToFloat(value.s32(offset)));
            case 8 -> visitor.floatingPoint(Double.longBitsToDouble(value.s64(offset)));
            default -> visitor.bytes(value.slice(offset, type.size()).toByteArray());
        }
    }

    private void enumeration(int id, BtfType.Enumeration type, long number) {
        String name = btf.constant(id, number);
        if (name == null) {
            visitor.integer(number, type.signed());
        } else {
            spend(id, name.length() / NAME_CHARACTERS);
            visitor.constant(name, number, type.signed());
        }
    }

    /** A bit-field. Bits are counted from the lowest one of a byte on a little-endian machine, else from the highest. */
    private void bits(int id, long bitOffset, int width) {
        spend(id, 1);
        if (width > 64) {
            throw value.malformed(bitOffset / 8, "a bit-field of " + width + " bits");
        }
        boolean little = value.order() == ByteOrder.LITTLE_ENDIAN;
        long number = 0;
        for (int i = 0; i < width; i++) {
            long at = bitOffset + i;
            int shift = (int) (little ? at % 8 : 7 - at % 8);
            long bit = (value.u8(at / 8) >> shift) & 1;
            number = little ? number | bit << i : number << 1 | bit;
        }
        BtfType type = btf.type(id);
        boolean signed = type instanceof BtfType.Int integer
                ? integer.isSigned()
                : type instanceof BtfType.Enumeration enumeration && enumeration.signed();
        long extended = signed ? number << (64 - width) >> (64 - width) : number;
        switch (type) {
            case BtfType.Enumeration enumeration -> enumeration(id, enumeration, extended);
            case BtfType.Int integer when integer.isBool() -> visitor.bool(number != 0);
            default -> visitor.integer(extended, signed);
        }
    }

    private void composite(BtfType.Composite type, long offset, int nesting) {
        visitor.beginStruct();
        for (BtfType.Member member : type.members()) {
            int plain = btf.resolve(member.type());
            spend(plain, member.name().length() / NAME_CHARACTERS);
            visitor.member(member.name());
            if (member.isBitField()) {
                bits(plain, 8 * offset + member.bitOffset(), member.bitSize());
            } else if (btf.type(plain) instanceof BtfType.Int integer && integer.bits() < 8 * integer.size()) {
                bits(plain, 8 * offset + member.bitOffset() + integer.bitOffset(), integer.bits());
            } else {
                visit(member.type(), offset + member.bitOffset() / 8, nesting + 1);
            }
        }
        visitor.endStruct();
    }

    private void section(BtfType.Datasec type, long offset, int nesting) {
        visitor.beginStruct();
        for (BtfType.SectionVariable variable : type.variables()) {
            String name = btf.name(variable.type());
            spend(variable.type(), name.length() / NAME_CHARACTERS);
            visitor.member(name);
            visit(variable.type(), offset + variable.offset(), nesting + 1);
        }
        visitor.endStruct();
    }

    private void array(int id, BtfType.Array type, long offset, int nesting) {
        long size = btf.size(type.elementType());
        BtfType element = btf.type(btf.resolve(type.elementType()));
        if (element instanceof BtfType.Int integer
                && size == 1
                && (integer.name().equals("char") || (integer.encoding() & BtfType.Int.CHAR) != 0)) {
            spend(id, type.count());
            byte[] bytes = value.slice(offset, type.count()).toByteArray();
            int end = 0;
            while (end < bytes.length && bytes[end] != 0) {
                end++;
            }
            visitor.text(Arrays.copyOf(bytes, end));
            return;
        }
        visitor.beginArray();
        // Elements without bytes are not worth the time that a large number of them would take.
        long count = size == 0 ? 0 : value.slice(offset, btf.size(id)).size() / size;
        long runEnd = 0;
        for (long i = 0; i < count; i++) {
            visit(type.elementType(), offset + i * size, nesting + 1);
            if (i >= runEnd) {
                long run = run(offset + i * size, size, count - i);
                spend(id, run * size);
                runEnd = i + run;
                if (run >= 4 && visitor.repeated(run)) {
                    i = runEnd - 1;
                }
            }
        }
        visitor.endArray();
    }

    /** How many elements from this one on are equal. */
    private long run(long offset, long size, long most) {
        long run = 1;
        while (run < most && isEqual(offset, offset + run * size, size)) {
            run++;
        }
        return run;
    }

    private boolean isEqual(long one, long other, long size) {
        for (long i = 0; i < size; i++) {
            if (value.u8(one + i) != value.u8(other + i)) {
                return false;
            }
        }
        return true;
    }

    /** The text of one line. */
    private static final class ValueText implements Visitor {
        private final StringBuilder text = new StringBuilder();
        private boolean comma;

        private void separate() {
            if (comma) {
                text.append(", ");
            }
            comma = true;
        }

        private void part(String part) {
            separate();
            text.append(part);
        }

        @Override
        public boolean repeated(long count) {
            text.append(" (").append(count).append(" times)");
            return true;
        }

        private void begin(char bracket) {
            separate();
            text.append(bracket);
            comma = false;
        }

        private void end(char bracket) {
            text.append(bracket);
            comma = true;
        }

        @Override
        public void beginStruct() {
            begin('{');
        }

        @Override
        public void member(String name) {
            if (!name.isEmpty()) {
                separate();
                text.append('.').append(printable(CString.encode(name))).append(" = ");
                comma = false;
            }
        }

        @Override
        public void endStruct() {
            end('}');
        }

        @Override
        public void beginArray() {
            begin('[');
        }

        @Override
        public void endArray() {
            end(']');
        }

        @Override
        public void integer(long number, boolean signed) {
            part(signed ? Long.toString(number) : Long.toUnsignedString(number));
        }

        @Override
        public void integer(BigInteger number) {
            part(number.toString());
        }

        @Override
        public void floatingPoint(double number) {
            part(Double.toString(number));
        }

        @Override
        public void bool(boolean is) {
            part(Boolean.toString(is));
        }

        @Override
        public void constant(String name, long number, boolean signed) {
            part(printable(CString.encode(name)));
        }

        @Override
        public void pointer(long address) {
            part("0x" + Long.toHexString(address));
        }

        @Override
        public void text(byte[] bytes) {
            part('"' + printable(bytes) + '"');
        }

        @Override
        public void bytes(byte[] bytes) {
            StringBuilder hex = new StringBuilder();
            for (byte b : bytes) {
                hex.append(hex.isEmpty() ? "" : " ").append("%02x".formatted(b));
            }
            part(hex.toString());
        }

        private static String printable(byte[] bytes) {
            StringBuilder shown = new StringBuilder(bytes.length);
            for (byte b : bytes) {
                if (b == '"' || b == '\\') {
                    shown.append('\\');
                }
                if (b >= 0x20 && b < 0x7f) {
                    shown.append((char) b);
                } else {
                    shown.append("\\x%02x".formatted(b));
                }
            }
            return shown.toString();
        }

        @Override
        public String toString() {
            return text.toString();
        }
    }
}
