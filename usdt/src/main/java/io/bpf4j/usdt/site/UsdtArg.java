package io.bpf4j.usdt.site;

import java.util.List;
import java.util.Optional;

/**
 * One argument of a probe: how large its value is and where it is when the probe fires. <i>Immutable.</i>
 *
 * <p>{@code -4@-20(%rbp)} is a signed value of 4 bytes in memory at rbp - 20. The declared size is the number of bytes
 * of the register or memory that the value takes.
 */
public sealed interface UsdtArg permits UsdtArgData {
    /**
     * Parses an argument string. Never throws: an argument that can't be read is {@link Unsupported}, with its reason.
     *
     * @param machine the machine of the file that the string is from
     * @return the arguments in the order of the text, without a limit. BPF programs can read the first 12
     */
    static List<UsdtArg> parse(Machine machine, String arguments) {
        return ArgumentString.parse(machine, arguments);
    }

    /**
     * Writes arguments in their machine's syntax. Parsing the text again gives equal arguments. Unsupported arguments
     * are written as in the file.
     *
     * @throws IllegalArgumentException if the machine's assembler can't express an argument, such as a register of
     *     another machine
     */
    static String print(Machine machine, List<UsdtArg> arguments) {
        return ArgumentString.print(machine, arguments);
    }

    /** A value of 1, 2, 4 or 8 bytes, zero-extended to 64 bits. */
    static UsdtArg unsigned(int size, Operand operand) {
        return new UsdtArgData(size, false, false, operand);
    }

    /** A value of 1, 2, 4 or 8 bytes, sign-extended to 64 bits. */
    static UsdtArg signed(int size, Operand operand) {
        return new UsdtArgData(size, true, false, operand);
    }

    /** The same argument, whose bits are those of a {@code float} or {@code double}. */
    UsdtArg withFloat();

    /** Bytes of the value: 1, 2, 4 or 8. An unsupported argument may declare any other size. */
    int size();

    /** Whether a value of less than 8 bytes is sign-extended, rather than zero-extended, to 64 bits. */
    boolean signed();

    /** Whether the bits of the value are those of a {@code float} (size 4) or {@code double} (size 8). */
    boolean isFloat();

    /** Where the value is. */
    Operand operand();

    /** Truncates 64 bits to the size and extends them again, as a BPF program reads the value. */
    default long cut(long bits) {
        int shift = Long.SIZE - Byte.SIZE * size();
        return signed() ? bits << shift >> shift : bits << shift >>> shift;
    }

    /**
     * Where a value is. <i>Immutable.</i>
     *
     * <p>Registers have their full names, even if the compiler named a part: {@code rax} for {@code %al}.
     */
    sealed interface Operand {}

    /**
     * The value is a constant: {@code -4@$-9}.
     *
     * @param value as it is written, 64 bits, two's complement. Compilers write the same four bytes as {@code $-1} and
     *     as {@code $4294967295}; {@link UsdtArg#cut} makes them equal
     */
    record Constant(long value) implements Operand {}

    /** The value is in a register: {@code 8@%rax}. */
    record Register(String name) implements Operand {}

    /**
     * The value is in memory at {@code base + offset + index * scale}: {@code 4@4(%rcx,%r9,8)} ("scale, index, base").
     * Without an index it is {@code -4@-20(%rbp)}. Only BPF objects built against libbpf 1.7 or later can read memory
     * with an index.
     *
     * <p>If the operand has a symbol, the base is the instruction pointer, and the address is {@code symbol + offset},
     * as in {@code -4@24+counters(%rip)}: a symbol and a base register can't be added, because both are addresses. All
     * symbolic operands are converted to this form, which has the meaning of an assembler's {@code sym(%rip)}.
     *
     * @param base register; the instruction pointer if there is a symbol
     * @param offset bytes
     * @param symbol name of a symbol of the same file that takes the base's place. Its address is with the site: {@link
     *     UsdtSite#symbols()}
     * @param index register; without one the scale is 1
     * @param scale 1, 2, 4 or 8
     * @param indexSize bytes of the index register that are used, in the notation of an argument's size: 8 for the
     *     whole register, 4 for the zero-extended lower half ({@code [x1, w0, uxtw]} on arm64), -4 for the
     *     sign-extended lower half ({@code sxtw}). Only BPF objects with bpf4j's own {@code usdt.h} can read half a
     *     register
     */
    record Memory(String base, long offset, Optional<String> symbol, Optional<String> index, int scale, int indexSize)
            implements Operand {
        public Memory {
            if (indexSize != 8 && indexSize != 4 && indexSize != -4) {
                throw new IllegalArgumentException(
                        "the size of an index register is 8, 4 or -4 (4 bytes, sign-extended), not " + indexSize);
            }
        }

        /** {@code offset(base)}. */
        public static Memory of(String base, long offset) {
            return new Memory(base, offset, Optional.empty(), Optional.empty(), 1, 8);
        }

        /** At the address of a symbol. The base is then the instruction pointer, and is not added. */
        public Memory withSymbol(String name) {
            return new Memory(base, offset, Optional.of(name), index, scale, indexSize);
        }

        /** With an index of {@code bytes} bytes of a register, as for {@link #indexSize}. */
        public Memory withIndex(String register, int factor, int bytes) {
            return new Memory(base, offset, symbol, Optional.of(register), factor, bytes);
        }

        /** With a whole register as the index. */
        public Memory withIndex(String register, int factor) {
            return withIndex(register, factor, 8);
        }
    }

    /**
     * The value can't be read; the probe and its other arguments can. {@code bpf_usdt_arg()} returns an error for such
     * an argument.
     *
     * @param reason the reason, as the end of a sentence: {@code %xmm0 is a vector register, …}
     * @param raw the argument as the file has it
     */
    record Unsupported(String reason, String raw) implements Operand {}
}
