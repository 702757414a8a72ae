package io.bpf4j.trace.internal.expression;

import io.bpf4j.elf.internal.text.CString;
import io.bpf4j.trace.expression.ValueType;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.IntFunction;

/**
 * The place where a function writes the value of an expression, and the type by which it is read. <i>Immutable.</i>
 *
 * <p>Equal values have equal bytes, so a value can be a key.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 *
 * @param text the expression's text
 * @param type the type of the value
 * @param offset of the value in the function's output, in bytes; a multiple of 8
 * @param size of the value in bytes, a multiple of 8
 * @param cuts whether the value is text that may be cut at its size, because the expression has no explicit bound
 */
public record Output(String text, ValueType type, int offset, int size, boolean cuts) {
    /** Finds the names of control groups. */
    public interface GroupName {
        /** The name of the unit, container or pod to which the group with a number belongs. */
        String of(ValueType.Basic kind, long id);
    }

    /** Whether the value is the name of a control group, which is a number until it is decoded. */
    public boolean isGroup() {
        return Term.GroupName.TYPES.contains(type);
    }

    /**
     * Whether the value is a text that was cut: it fills its size, and the expression has no bound. A text of exactly
     * this length counts as cut, too.
     */
    public boolean isCut(byte[] out) {
        return cuts && out[offset + size - 1] != 0;
    }

    /**
     * The value: a {@link Long}, or a {@link BigInteger} for an unsigned number that does not fit a long; a {@link
     * Double}; a {@link Boolean}; or a {@link String} for text and for names. A byte of a text that isn't
     * UTF-8 becomes a lone surrogate, U+DC00 plus the byte, as in Python (PEP 383): different bytes are different
     * strings.
     *
     * @param out the function's output; numbers have the machine's byte order
     * @param probeName the name of the probe with a number, {@code provider:name}
     * @param groupName the name of the unit, container or pod to which the control group with a number belongs
     */
    public Object decode(byte[] out, IntFunction<String> probeName, GroupName groupName) {
        if (type == ValueType.Basic.TEXT) {
            int length = size;
            while (length > 0 && out[offset + length - 1] == 0) {
                length--;
            }
            return CString.exact(out, offset, offset + length);
        }
        long number = ByteBuffer.wrap(out).order(ByteOrder.nativeOrder()).getLong(offset);
        return switch (type) {
            case ValueType.Int t -> t.isU64() && number < 0 ? new BigInteger(Long.toUnsignedString(number)) : number;
            case ValueType.FloatingPoint t -> t.value(number);
            case ValueType.Basic basic ->
                switch (basic) {
                    case BOOL -> number != 0;
                    case PROBE -> probeName.apply((int) number);
                    case PROVIDER -> provider(probeName.apply((int) number));
                    case UNIT, CONTAINER, POD -> groupName.of(basic, number);
                    case TEXT -> throw new AssertionError();
                };
        };
    }

    static String provider(String probe) {
        int colon = probe.indexOf(':');
        return colon < 0 ? probe : probe.substring(0, colon);
    }
}
