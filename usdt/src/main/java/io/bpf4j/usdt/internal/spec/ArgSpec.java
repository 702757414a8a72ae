package io.bpf4j.usdt.internal.spec;

import org.jspecify.annotations.Nullable;

/**
 * One argument as {@code bpf_usdt_arg()} reads it. <b>Immutable</b>.
 *
 * <p>The program computes, with all registers read as 64 bits from {@code struct pt_regs}:
 *
 * <pre>
 *   CONSTANT      valueOrOffset
 *   REGISTER      register
 *   DEREFERENCE   8 bytes at register + valueOrOffset
 *   SIB           8 bytes at register + (index &lt;&lt; scaleShift) + valueOrOffset, the index cut to indexSize first
 *   then          shifts left and right again by bitShift, which drops what is beyond the value's size
 *                 and extends its sign, if it is signed
 * </pre>
 *
 * @param valueOrOffset the constant, or a distance in bytes
 * @param registerOffset byte offset of the (base) register in struct pt_regs
 * @param indexOffset byte offset of the index register in struct pt_regs
 * @param scaleShift 0 to 3: the index counts 1, 2, 4 or 8 bytes
 * @param indexSize bytes of the index register: 8, or 4 or -4 for its lower half without or with a sign
 * @param bitShift 64 less the bits of the value
 * @param refusal why the argument can't be read, if the type is {@link Type#INVALID}; else null
 */
public record ArgSpec(
        Type type,
        long valueOrOffset,
        int registerOffset,
        int indexOffset,
        int scaleShift,
        int indexSize,
        boolean signed,
        int bitShift,
        @Nullable String refusal) {

    /** With the whole index register, if there is one. */
    public ArgSpec(
            Type type,
            long valueOrOffset,
            int registerOffset,
            int indexOffset,
            int scaleShift,
            boolean signed,
            int bitShift) {
        this(type, valueOrOffset, registerOffset, indexOffset, scaleShift, 8, signed, bitShift, null);
    }

    /** What stands for an argument that can't be read: asking for it gives an error, never a wrong value. */
    public static ArgSpec unreadable(String refusal) {
        return new ArgSpec(Type.INVALID, 0, 0, 0, 0, 8, false, 0, refusal);
    }

    /** Numbers mirror {@code enum __bpf_usdt_arg_type} of usdt.bpf.h. */
    public enum Type {
        CONSTANT(0),
        REGISTER(1),
        DEREFERENCE(2),
        SIB(3),
        /**
         * No type that any version of usdt.bpf.h knows: {@code bpf_usdt_arg()} answers it by -EINVAL. Far from the
         * numbers in use, so that the next one to be invented doesn't give it a meaning, and within 7 bits, so that
         * neither a signed nor a narrow field changes it.
         */
        INVALID(0x7f);

        private final int number;

        Type(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }
}
