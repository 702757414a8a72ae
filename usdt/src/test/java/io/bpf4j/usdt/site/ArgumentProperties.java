package io.bpf4j.usdt.site;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import org.jspecify.annotations.Nullable;

/** What argument strings are made of, at random: pieces of text, and arguments of each machine. */
final class ArgumentProperties {
    private ArgumentProperties() {}

    private static final List<String> SYMBOLS =
            List.of("sym", "_ZN3fooE", ".L.str", "v.6", "a$b", "$sym", "été", "r", "i5");

    /** Machines that have a grammar. */
    static Arbitrary<Machine> machines() {
        return Arbitraries.of(Machine.values()).filter(m -> m != Machine.OTHER);
    }

    /** Anything, or what looks like argument strings, more or less. */
    static Arbitrary<String> texts() {
        Arbitrary<String> anything = Arbitraries.strings().all().ofMaxLength(60);
        Arbitrary<String> pieces = Arbitraries.of(
                        "8@",
                        "-4@",
                        "1f@",
                        "16@",
                        "@",
                        " ",
                        "  ",
                        "\t",
                        "%",
                        "%rax",
                        "%eax",
                        "%xmm0",
                        "%fs:",
                        "%ds:",
                        "(",
                        ")",
                        "[",
                        "]",
                        ",",
                        ", ",
                        "$",
                        "#",
                        "-",
                        "+",
                        "*",
                        "<<",
                        "~",
                        "0",
                        "9",
                        "0x1f",
                        "18446744073709551615",
                        "9223372036854775808",
                        "sym",
                        "@plt",
                        "@GOTOFF",
                        "x0",
                        "w1",
                        "lsl 2",
                        "sxtx",
                        "sp",
                        "r7",
                        "r0",
                        "!",
                        "%lo(",
                        "a0",
                        "zero",
                        "s0",
                        "%r2",
                        "%r0",
                        "i",
                        "$a7",
                        "$zero",
                        ":lo12:",
                        "é",
                        "٣",
                        "\0",
                        "PTR ")
                .list()
                .ofMaxSize(14)
                .map(list -> String.join("", list));
        return Arbitraries.oneOf(anything, pieces);
    }

    private static UsdtArg.Memory address(String ip, String base, long offset, @Nullable String symbol) {
        return symbol == null
                ? UsdtArg.Memory.of(base, offset)
                : UsdtArg.Memory.of(ip, offset).withSymbol(symbol);
    }

    /** Arguments as a caller could make them up, not all of which the machine can express. */
    static Arbitrary<UsdtArg> arguments(Machine machine) {
        String ip = ArgGrammar.of(machine).orElseThrow().instructionPointer;
        Arbitrary<String> registers = Arbitraries.of(PtRegs.registers(machine));
        Arbitrary<Integer> sizes = Arbitraries.of(1, 2, 4, 8);
        Arbitrary<Boolean> flags = Arbitraries.of(true, false);
        Arbitrary<Long> offsets = Arbitraries.oneOf(
                Arbitraries.longs(), Arbitraries.longs().between(-64, 64), Arbitraries.of(0L, Long.MIN_VALUE));
        Arbitrary<@Nullable String> symbols = Arbitraries.of(SYMBOLS).injectNull(0.5);
        Arbitrary<UsdtArg.Operand> memory = Combinators.combine(registers, offsets, symbols)
                .as((base, offset, symbol) -> address(ip, base, offset, symbol));
        Arbitrary<Integer> scales = Arbitraries.of(1, 2, 4, 8);
        Arbitrary<UsdtArg.Operand> indexed = Combinators.combine(registers, offsets, symbols, registers, scales)
                .as((base, offset, symbol, index, scale) ->
                        address(ip, base, offset, symbol).withIndex(index, scale));
        Arbitrary<UsdtArg.Operand> halves = Combinators.combine(registers, registers, scales, Arbitraries.of(4, -4))
                .as((base, index, scale, indexSize) ->
                        UsdtArg.Memory.of(base, 0).withIndex(index, scale, indexSize));
        Arbitrary<UsdtArg.Operand> operands = Arbitraries.oneOf(
                offsets.map(UsdtArg.Constant::new), registers.map(UsdtArg.Register::new), memory, indexed, halves);
        return Combinators.combine(sizes, flags, flags, operands).as(UsdtArgData::new);
    }
}
