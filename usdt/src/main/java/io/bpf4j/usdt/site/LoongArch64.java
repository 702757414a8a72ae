package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * loongarch64: {@code $a7}, constants without a mark, and memory without any brackets: {@code $a7, 8} is a7 + 8,
 * {@code $a7, $a1} is a7 + a1. Offsets mirror {@code struct user_pt_regs} of arch/loongarch/include/uapi/asm/ptrace.h:
 * 32 registers, the first argument again, then the exception return address. Full names are those of the ABI.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class LoongArch64 extends ArgGrammar {
    private static final String[] ABI_NAMES = {
        "ra", "tp", "sp", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3", "t4", "t5", "t6",
        "t7", "t8", "r21", "fp", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"
    };
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final LoongArch64 INSTANCE = new LoongArch64();

    private LoongArch64() {
        super(Machine.LOONGARCH64, "pc", REGISTERS, "", "$");
    }

    private static Registers registers() {
        return new Registers()
                .add(264, 8, "pc")
                .addNumbered(8, "r", ABI_NAMES)
                // Names in older assemblers.
                .alias("fp", 8, "s9")
                .alias("r21", 8, "u0", "x")
                .alias("a0", 8, "v0")
                .alias("a1", 8, "v1");
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        if (!text.startsWith("$")) {
            return unmarkedConstant(text, size);
        }
        int comma = text.indexOf(',');
        String first = Blanks.strip(text.substring(1, comma < 0 ? text.length() : comma));
        if (comma >= 0) {
            return registers
                    .find(first)
                    .flatMap(base -> memory(base.fullName(), Blanks.strip(text.substring(comma + 1))));
        }
        if (first.equals("zero") || first.equals("r0")) {
            return Optional.of(new UsdtArg.Constant(0));
        }
        return register(first, "f", "fa", "ft", "fs", "vr", "xr");
    }

    private Optional<Operand> memory(String base, String second) {
        if (second.startsWith("$")) {
            return registers
                    .find(second.substring(1))
                    .map(Register::fullName)
                    .map(index -> UsdtArg.Memory.of(base, 0).withIndex(index, 1));
        }
        if (second.startsWith("%")) {
            return Optional.of(linkerOnly(second));
        }
        return second.isEmpty()
                ? Optional.empty()
                : Expression.parse(second).filter(e -> e.symbol() == null).map(e -> UsdtArg.Memory.of(base, e.value()));
    }

    @Override
    String print(UsdtArg.Memory m) {
        return "$" + m.base() + ", " + m.index().map(index -> "$" + index).orElse(Long.toString(m.offset()));
    }
}
