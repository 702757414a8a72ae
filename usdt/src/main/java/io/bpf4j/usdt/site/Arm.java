package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * 32-bit arm: {@code r4}, {@code #5}, memory in {@link BracketSyntax brackets}. The full names are r0 to r12, sp, lr
 * and pc. Offsets are those of an arm64 kernel with a 32-bit process: r0 to r14 in the slots of x0 to x14.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class Arm extends ArgGrammar {
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final Arm INSTANCE = new Arm();

    private final BracketSyntax memory = new BracketSyntax(REGISTERS, "pc", "#");

    private Arm() {
        super(Machine.ARM, "pc", REGISTERS, "#", "");
    }

    private static Registers registers() {
        Registers all = new Registers();
        for (int n = 0; n <= 12; n++) {
            all.add(8 * n, 4, "r" + n);
        }
        return all.alias("r9", 4, "sb")
                .alias("r10", 4, "sl")
                .alias("r11", 4, "fp")
                .alias("r12", 4, "ip")
                .add(8 * 13, 4, "sp", "r13")
                .add(8 * 14, 4, "lr", "r14")
                .add(256, 4, "pc", "r15");
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        if (text.startsWith("[")) {
            return memory.parse(text);
        }
        if (text.startsWith("#")) {
            return text.startsWith("#:") ? Optional.of(linkerOnly(text)) : unmarkedConstant(text.substring(1));
        }
        return register(text, "s", "d", "q")
                .map(register -> notHalfOfPair(register, size))
                .or(() -> size == 0 ? Optional.empty() : unmarkedConstant(text));
    }

    @Override
    String print(UsdtArg.Memory m) {
        return memory.print(m);
    }
}
