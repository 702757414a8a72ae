package io.bpf4j.trace.event;

/** The interpretation of the 64 bits of an argument as a number. */
public enum NumberKind {
    /** A {@code long}: the bits are sign-extended. */
    SIGNED,
    /** An unsigned number of 64 bits: the bits are zero-extended. */
    UNSIGNED,
    /** The lower 32 bits are a {@code float}. */
    FLOAT,
    /** The bits are a {@code double}. */
    DOUBLE;

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
}
