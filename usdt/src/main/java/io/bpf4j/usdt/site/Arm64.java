package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * arm64: {@code x4}, {@code w3}, constants without a mark, memory in {@link BracketSyntax brackets}. Offsets mirror
 * {@code struct user_pt_regs} of arch/arm64/include/uapi/asm/ptrace.h: 31 registers, sp, pc.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class Arm64 extends ArgGrammar {
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final Arm64 INSTANCE = new Arm64();

    private final BracketSyntax memory = new BracketSyntax(REGISTERS, "pc", "");

    private Arm64() {
        super(Machine.AARCH64, "pc", REGISTERS, "", "");
    }

    private static Registers registers() {
        Registers all = new Registers();
        for (int n = 0; n <= 30; n++) {
            all.add(8 * n, 8, "x" + n).alias("x" + n, 4, "w" + n);
        }
        return all.alias("x29", 8, "fp")
                .alias("x30", 8, "lr")
                .add(248, 8, "sp")
                .alias("sp", 4, "wsp")
                .add(256, 8, "pc");
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        if (text.startsWith("[")) {
            return memory.parse(text);
        }
        if (text.equals("xzr") || text.equals("wzr")) {
            return Optional.of(new UsdtArg.Constant(0));
        }
        String constant = text.startsWith("#") ? text.substring(1) : text;
        return register(text, "v", "q", "d", "s", "h", "b", "z", "p").or(() -> unmarkedConstant(constant, size));
    }

    @Override
    String print(UsdtArg.Memory m) {
        return memory.print(m);
    }
}
