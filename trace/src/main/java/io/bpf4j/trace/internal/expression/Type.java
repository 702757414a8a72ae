package io.bpf4j.trace.internal.expression;

/**
 * The type of an expression's value. <i>Immutable.</i>
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public sealed interface Type {
    /**
     * A whole number.
     *
     * @param size in bytes: 1, 2, 4 or 8
     * @param signed whether it may be negative
     */
    record Int(int size, boolean signed) implements Type {
        /** A signed number of 64 bits: the type of literals, and of arithmetic unless an operand is {@link #U64}. */
        public static final Int S64 = new Int(8, true);

        /** An unsigned number of 64 bits. */
        public static final Int U64 = new Int(8, false);

        public Int {
            if (size != 1 && size != 2 && size != 4 && size != 8) {
                throw new IllegalArgumentException("a number of " + size + " bytes; it must be 1, 2, 4 or 8");
            }
        }

        boolean isU64() {
            return equals(U64);
        }

        @Override
        public String toString() {
            return (signed ? "s" : "u") + 8 * size;
        }
    }

    /**
     * A floating-point number of IEEE 754.
     *
     * @param size in bytes: 4 or 8
     */
    record FloatingPoint(int size) implements Type {
        public FloatingPoint {
            if (size != 4 && size != 8) {
                throw new IllegalArgumentException("a floating-point number of " + size + " bytes; it must be 4 or 8");
            }
        }

        @Override
        public String toString() {
            return "a floating-point number";
        }
    }

    /** Types without properties. */
    enum Basic implements Type {
        /** 0 or 1, the result of a comparison. */
        BOOL,
        /** Text, of at most a bounded number of bytes. */
        TEXT,
        /** The probe that fired, {@code provider:name}. */
        PROBE,
        /** The provider of the probe that fired. */
        PROVIDER;

        @Override
        public String toString() {
            return switch (this) {
                case BOOL -> "a truth value";
                case TEXT -> "text";
                case PROBE -> "the name of a probe";
                case PROVIDER -> "the name of a provider";
            };
        }
    }

    /** Whether it is a number of 64 bits in the event's output: an {@link Int}, or a truth value as 0 or 1. */
    default boolean isNumber() {
        return this instanceof Int || this == Basic.BOOL;
    }

    /** Whether its values are ordered as signed numbers of 64 bits, as those of all types but {@link Int#U64} are. */
    default boolean isSigned() {
        return isNumber() && !equals(Int.U64);
    }
}
