package io.bpf4j.usdt.internal.arg;

import org.jspecify.annotations.Nullable;

/**
 * Where the value of one argument is when the probe fires: the part of an argument after its {@code SIZE@}.
 * Registers go by their full names ({@code rax}, never {@code eax}). <b>Immutable</b>.
 */
public sealed interface Operand {

    /** The value itself, known when the program was compiled. */
    record Constant(long value) implements Operand {}

    /** The value is in a register. */
    record Register(String name) implements Operand {}

    /**
     * The value is in memory, at {@code base + displacement + symbol + index * scale}.
     *
     * <p>A symbol is an address and a register is one too, and the sum of two addresses is none: where there is a
     * symbol, the base is the instruction pointer, and the address is {@code symbol + displacement} alone. That is
     * what an assembler means by {@code sym(%rip)}, and the form into which all symbolic operands are brought.
     *
     * @param index null if there is none; then scale is 1
     * @param indexSize bytes of the index register that count, written as an argument's size is: 8 all that there are, 4 the
     *     lower half, -4 the same with a sign
     */
    record Memory(
            String base,
            long displacement,
            @Nullable String symbol,
            @Nullable String index,
            int scale,
            int indexSize) implements Operand {

        /** With all of the index register, if there is one. */
        public Memory(String base, long displacement, @Nullable String symbol, @Nullable String index, int scale) {
            this(base, displacement, symbol, index, scale, 8);
        }

        /** {@code displacement(base)}. */
        public static Memory of(String base, long displacement) {
            return new Memory(base, displacement, null, null, 1);
        }
    }

    /** It can't be read, for this reason. */
    record Unsupported(String reason) implements Operand {}
}
