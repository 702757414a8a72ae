package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Objects;
import java.util.Optional;

/**
 * riscv64: {@code a0}, {@code -20(s0)}, constants without a mark. {@code %lo(sym)(a3)} is the address of sym: a3 holds
 * its upper bits. Offsets mirror {@code struct user_regs_struct} of arch/riscv/include/uapi/asm/ptrace.h: pc first,
 * then x1 to x31. Full names are those of the ABI: {@code a0}, not {@code x10}.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class RiscV64 extends ArgGrammar {
    private static final String[] ABI_NAMES = {
        "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2",
        "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
    };
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final RiscV64 INSTANCE = new RiscV64();

    private RiscV64() {
        super(Machine.RISCV64, "pc", REGISTERS, "", "");
    }

    private static Registers registers() {
        return new Registers().add(0, 8, "pc").addNumbered(8, "x", ABI_NAMES).alias("s0", 8, "fp");
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        int open = text.lastIndexOf('(');
        if (open >= 0 && text.endsWith(")")) {
            return memory(
                    text,
                    Blanks.strip(text.substring(0, open)),
                    Blanks.strip(text.substring(open + 1, text.length() - 1)));
        }
        if (text.equals("zero") || text.equals("x0")) {
            return Optional.of(new UsdtArg.Constant(0));
        }
        return register(text, "f", "fa", "fs", "ft", "v").or(() -> unmarkedConstant(text, size));
    }

    private Optional<Operand> memory(String text, String offset, String base) {
        Optional<Register> register = registers.find(base);
        if (register.isEmpty()) {
            return base.equals("zero") || base.equals("x0") ? Optional.of(absolute(text)) : Optional.empty();
        }
        if (offset.startsWith("%lo(") && offset.endsWith(")")) {
            return Expression.parse(offset.substring(4, offset.length() - 1))
                    .filter(e -> e.symbol() != null && !e.negated() && e.relocation() == null)
                    .map(e -> UsdtArg.Memory.of(instructionPointer, e.value())
                            .withSymbol(Objects.requireNonNull(e.symbol())));
        }
        if (offset.startsWith("%")) {
            return Optional.of(linkerOnly(text));
        }
        return Expression.parse(offset)
                .filter(e -> e.symbol() == null)
                .map(e -> UsdtArg.Memory.of(register.get().fullName(), e.value()));
    }

    @Override
    String print(UsdtArg.Memory m) {
        String offset = m.symbol()
                .map(symbol -> "%lo(" + Expression.print(symbol, m.offset()) + ")")
                .orElse(Long.toString(m.offset()));
        return offset + "(" + m.base() + ")";
    }
}
