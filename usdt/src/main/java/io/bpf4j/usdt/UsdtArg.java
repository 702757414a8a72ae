package io.bpf4j.usdt;

import org.jspecify.annotations.Nullable;

/**
 * One argument of a probe: how large its value is and where it is when the probe fires. <b>Immutable</b>.
 *
 * <p>Registers go by their full names, whatever part of them the compiler named: {@code rax} for {@code %al}.
 * The declared size tells how much of the register or memory is the value. {@link UsdtArgs} reads and prints
 * arguments.
 */
public sealed interface UsdtArg {

    /** Bytes of the value: 1, 2, 4 or 8. An unsupported argument may declare any other size. */
    int size();

    /** Whether a value of less than 8 bytes is sign-extended, rather than zero-extended, to 64 bits. */
    boolean signed();

    /** Whether the bits of the value are those of a {@code float} (size 4) or {@code double} (size 8). */
    boolean isFloat();

    /**
     * The value is known already: {@code -4@$-9}.
     *
     * @param value as it is written, 64 bits, two's complement. Compilers write the same four bytes as {@code $-1} and
     *     as {@code $4294967295}
     */
    record Constant(int size, boolean signed, boolean isFloat, long value) implements UsdtArg {

        /** What a BPF program reads: the value cut to its size and extended again. -1 for both if signed. */
        public long read() {
            int shift = Long.SIZE - Byte.SIZE * size;
            return signed ? value << shift >> shift : value << shift >>> shift;
        }
    }

    /** The value is in a register: {@code 8@%rax}. */
    record Register(int size, boolean signed, boolean isFloat, String register) implements UsdtArg {}

    /**
     * The value is in memory at {@code register + offset}: {@code -4@-20(%rbp)}; or, where there is a symbol, at
     * {@code symbol + offset}: {@code -4@24+counters(%rip)}.
     *
     * @param register base register; the instruction pointer if there is a symbol
     * @param offset bytes
     * @param symbol name of a symbol of the same file, or null. Its address is with the site:
     *     {@link UsdtSite#symbols()}
     */
    record Dereference(
            int size,
            boolean signed,
            boolean isFloat,
            String register,
            long offset,
            @Nullable String symbol) implements UsdtArg {}

    /**
     * The value is in memory at {@code register + offset + index * scale}: {@code 4@4(%rcx,%r9,8)} ("scale, index,
     * base"). Only BPF objects built against libbpf 1.7 or later can read it.
     *
     * @param register base register; the instruction pointer if there is a symbol
     * @param offset bytes
     * @param index index register
     * @param scale 1, 2, 4 or 8
     * @param symbol name of a symbol that takes the base's place, or null
     * @param indexSize bytes of the index register that count, written as the size of an argument is: 8 all that there are,
     *     4 the lower half ({@code [x1, w0, uxtw]} on arm64), -4 the same with a sign ({@code sxtw}). Only BPF objects with
     *     bpf4j's own {@code usdt.h} can read half a register
     */
    record Sib(
            int size,
            boolean signed,
            boolean isFloat,
            String register,
            long offset,
            String index,
            int scale,
            @Nullable String symbol,
            int indexSize)
            implements UsdtArg {
        public Sib {
            if (indexSize != 8 && indexSize != 4 && indexSize != -4) {
                throw new IllegalArgumentException("an index register has 8, 4 or -4 bytes, not " + indexSize);
            }
        }

        /** With all of the index register. */
        public Sib(
                int size,
                boolean signed,
                boolean isFloat,
                String register,
                long offset,
                String index,
                int scale,
                @Nullable String symbol) {
            this(size, signed, isFloat, register, offset, index, scale, symbol, 8);
        }
    }

    /**
     * The value can't be read; the probe and its other arguments can. {@code bpf_usdt_arg()} returns an error for
     * such an argument.
     *
     * @param reason why, in words that end a sentence: {@code %xmm0 is a vector register, …}
     * @param raw the argument as the file has it
     */
    record Unsupported(int size, boolean signed, boolean isFloat, String reason, String raw) implements UsdtArg {}
}
