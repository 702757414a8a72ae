package io.bpf4j.usdt.internal.spec;

import org.jspecify.annotations.Nullable;

/**
 * One argument as {@code bpf_usdt_arg()} reads it. <i>Immutable.</i>
 *
 * <p>The program computes, with all registers read as 64 bits from {@code struct pt_regs}:
 *
 * <pre>
 *   CONSTANT      valueOrOffset
 *   REGISTER      register
 *   DEREFERENCE   memory at register + valueOrOffset
 *   SIB           memory at register + (index &lt;&lt; scaleShift) + valueOrOffset, the index cut to indexSize first
 *   then          shifts left and right again by bitShift, which drops what is beyond the value's size
 *                 and extends its sign, if it is signed
 * </pre>
 *
 * <p>From memory, bpf4j's header reads the bytes of the value; libbpf's header always reads 8.
 *
 * @param valueOrOffset the constant, or an offset in bytes
 * @param registerOffset byte offset of the (base) register in struct pt_regs
 * @param indexOffset byte offset of the index register in struct pt_regs
 * @param scaleShift 0 to 3 for a scale of 1, 2, 4 or 8
 * @param indexSize bytes of the index register: 8, or 4 or -4 for its lower half, zero- or sign-extended
 * @param bitShift 64 minus the bits of the value
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

    /** With the whole index register, if the argument has an index. */
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

    /**
     * The spec of an argument that can't be read: {@code bpf_usdt_arg()} returns an error for it, never a wrong value.
     */
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
         * A type that no version of usdt.bpf.h defines: {@code bpf_usdt_arg()} returns -EINVAL for it. The number is
         * far from the numbers in use, so that a future type doesn't get it, and has at most 7 bits, so that neither a
         * signed nor a narrow field changes it.
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
