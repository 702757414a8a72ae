package io.bpf4j.trace.expression;

/**
 * The type of a value: the result of an expression, or an argument in the 64 bits that an event has for it.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public sealed interface ValueType {
    /** A number in the low bytes of 64 bits; a whole number is extended to all of them, by its sign. */
    sealed interface Numeric extends ValueType {
        /** The size of the number, in bytes. */
        int size();
    }

    /**
     * A whole number.
     *
     * @param size in bytes: 1, 2, 4 or 8
     * @param signed whether it may be negative
     * @param register whether it is a whole register of which no type is known: a narrower value need not fill it, so
     *     that -1 may be 2^32 - 1
     */
    record Int(int size, boolean signed, boolean register) implements Numeric {
        /** A signed number of 64 bits: the type of literals, and of arithmetic unless an operand is {@link #U64}. */
        public static final Int S64 = new Int(8, true);

        /** An unsigned number of 64 bits. */
        public static final Int U64 = new Int(8, false);

        /** A register: an argument or the result of a function. */
        public static final Int REGISTER = new Int(8, false, true);

        public Int(int size, boolean signed) {
            this(size, signed, false);
        }

        public Int {
            if (size != 1 && size != 2 && size != 4 && size != 8) {
                throw new IllegalArgumentException("a number of " + size + " bytes; it must be 1, 2, 4 or 8");
            }
        }

        /** The name in casts and in the catalog: {@code s32}. */
        @Override
        public String toString() {
            return (signed ? "s" : "u") + 8 * size;
        }
    }

    /**
     * A floating-point number of IEEE 754. BPF has no arithmetic for such numbers, so an argument of this type must be
     * the whole expression.
     *
     * @param size in bytes: 4 or 8
     */
    record FloatingPoint(int size) implements Numeric {
        public FloatingPoint {
            if (size != 4 && size != 8) {
                throw new IllegalArgumentException("a floating-point number of " + size + " bytes; it must be 4 or 8");
            }
        }

        /** The number with these bits. A float is converted by its decimal text, so that 0.1f becomes 0.1. */
        public double value(long bits) {
            return size == Double.BYTES
                    ? Double.longBitsToDouble(bits)
                    : Double.parseDouble(Float.toString(Float.intBitsToFloat((int) bits)));
        }

        @Override
        public String toString() {
            return "a floating-point number";
        }
    }

    /** Types without properties. */
    enum Basic implements ValueType {
        /** 0 or 1, the result of a comparison. */
        BOOL,
        /** Text, of at most a bounded number of bytes. */
        TEXT,
        /** The probe that fired, {@code provider:name}. */
        PROBE,
        /** The provider of the probe that fired. */
        PROVIDER,
        /** The unit of systemd to which the control group belongs; empty text for none. */
        UNIT,
        /** The id of the container to which the control group belongs; empty text for none. */
        CONTAINER,
        /** The uid of the pod of Kubernetes to which the control group belongs; empty text for none. */
        POD;

        @Override
        public String toString() {
            return switch (this) {
                case BOOL -> "a truth value";
                case TEXT -> "text";
                case PROBE -> "the name of a probe";
                case PROVIDER -> "the name of a provider";
                case UNIT -> "the name of a unit";
                case CONTAINER -> "the id of a container";
                case POD -> "the uid of a pod";
            };
        }
    }

    /**
     * Whether it is {@link Int#U64} or a register; all other numbers, and truth values, are ordered as signed numbers of
     * 64 bits.
     */
    default boolean isU64() {
        return equals(Int.U64) || equals(Int.REGISTER);
    }
}
