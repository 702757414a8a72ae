package io.bpf4j.cli.trace;

import io.bpf4j.cli.output.JsonLine;

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

    /** The number as text for display. */
    public String format(long bits) {
        return switch (this) {
            case SIGNED -> Long.toString(bits);
            case UNSIGNED ->
                Long.compareUnsigned(bits, LARGEST_DECIMAL) > 0 ? "0x" + Long.toHexString(bits) : Long.toString(bits);
            case FLOAT -> Float.toString(Float.intBitsToFloat((int) bits));
            case DOUBLE -> Double.toString(Double.longBitsToDouble(bits));
        };
    }

    /** Appends the number to a line of JSON. */
    public void write(JsonLine line, long bits) {
        switch (this) {
            case SIGNED -> line.value(bits);
            case UNSIGNED -> line.unsigned(bits);
            // Through its text: 0.1f is 0.1, not 0.10000000149011612.
            case FLOAT -> line.value(Double.parseDouble(Float.toString(Float.intBitsToFloat((int) bits))));
            case DOUBLE -> line.value(Double.longBitsToDouble(bits));
        }
    }
}
