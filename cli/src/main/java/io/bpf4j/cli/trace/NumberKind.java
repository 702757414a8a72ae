package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.LineBuffer;

/**
 * The interpretation of the 64 bits of an argument as a number.
 *
 * <p>Tested by {@code EventFormatTest}.
 */
public enum NumberKind {
    SIGNED,
    UNSIGNED,
    FLOAT,
    DOUBLE;

    /** A larger unsigned number is nearly always an address, and is shown in hexadecimal. */
    private static final long LARGEST_DECIMAL = 0xffff_ffffL;

    /**
     * The kind of an argument with this declaration.
     *
     * @param size bytes that the probe declares, 1 to 8
     * @param signed whether it declares a signed number
     * @param floating whether it declares floating point
     */
    public static NumberKind of(int size, boolean signed, boolean floating) {
        if (floating) {
            return size == Float.BYTES ? FLOAT : DOUBLE;
        }
        return signed ? SIGNED : UNSIGNED;
    }

    /** Appends the number as text for display. */
    void write(LineBuffer line, long bits) {
        switch (this) {
            case SIGNED -> line.decimal(bits);
            case UNSIGNED -> {
                if (Long.compareUnsigned(bits, LARGEST_DECIMAL) > 0) {
                    line.hex(bits);
                } else {
                    line.decimal(bits);
                }
            }
            case FLOAT -> line.append(Float.toString(Float.intBitsToFloat((int) bits)));
            case DOUBLE -> line.append(Double.toString(Double.longBitsToDouble(bits)));
        }
    }

    /** Appends the number as JSON. */
    void writeJson(LineBuffer line, long bits) {
        switch (this) {
            case SIGNED -> line.decimal(bits);
            case UNSIGNED -> line.unsigned(bits);
            // By its decimal text: 0.1f becomes 0.1, not 0.10000000149011612.
            case FLOAT ->
                new JsonLine(line).value(Double.parseDouble(Float.toString(Float.intBitsToFloat((int) bits))));
            case DOUBLE -> new JsonLine(line).value(Double.longBitsToDouble(bits));
        }
    }
}
