package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * ppc64 of either byte order. Its assembler writes registers as bare numbers, so constants are marked: {@code 3} is r3
 * and {@code i5} is 5. Memory is {@code -8(1)}, or {@code 7,10} for r7 + r10; register 0 as the first part of such a
 * sum, or in parentheses, is not a register but the number 0: {@code 0,0} is memory at the address in r0. Offsets
 * mirror {@code struct pt_regs} of arch/powerpc/include/uapi/asm/ptrace.h: 32 registers, nip.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class Ppc64 extends ArgGrammar {
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final Ppc64 INSTANCE = new Ppc64();

    private Ppc64() {
        super(Machine.PPC64LE, "nip", REGISTERS, "i", "");
    }

    private static Registers registers() {
        Registers all = new Registers().add(256, 8, "nip");
        for (int n = 0; n <= 31; n++) {
            all.add(8 * n, 8, "r" + n, "%r" + n, Integer.toString(n));
        }
        return all;
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        if (text.startsWith("i") && text.length() > 1) {
            return unmarkedConstant(text.substring(1));
        }
        int open = text.lastIndexOf('(');
        if (open >= 0 && text.endsWith(")")) {
            return displaced(
                    text,
                    Blanks.strip(text.substring(0, open)),
                    Blanks.strip(text.substring(open + 1, text.length() - 1)));
        }
        int comma = text.indexOf(',');
        if (comma >= 0) {
            return indexed(Blanks.strip(text.substring(0, comma)), Blanks.strip(text.substring(comma + 1)));
        }
        return text.equals("nip") ? Optional.empty() : register(text, "%f", "f", "%vs", "vs", "%v", "v");
    }

    private Optional<Operand> displaced(String text, String displacement, String base) {
        if (displacement.indexOf('@') >= 0) {
            return Optional.of(linkerOnly(text));
        }
        return Expression.parse(displacement)
                .filter(e -> e.symbol() == null && registers.find(base).isPresent())
                .map(e -> {
                    String register = addend(base);
                    return register == null ? absolute(text) : UsdtArg.Memory.of(register, e.value());
                });
    }

    private Optional<Operand> indexed(String first, String second) {
        Optional<Register> index = registers.find(second);
        if (registers.find(first).isEmpty() || index.isEmpty()) {
            return Optional.empty();
        }
        String base = addend(first);
        String name = index.get().fullName();
        return Optional.of(
                base == null
                        ? UsdtArg.Memory.of(name, 0)
                        : UsdtArg.Memory.of(base, 0).withIndex(name, 1));
    }

    private @Nullable String addend(String spelling) {
        String name = registers.find(spelling).map(Register::fullName).orElse("r0");
        return name.equals("r0") ? null : name;
    }

    @Override
    String print(UsdtArg.Memory m) {
        if (m.index().isPresent()) {
            return m.base() + "," + m.index().get();
        }
        // As the second part of a sum, 0 is register 0.
        return m.base().equals("r0") && m.offset() == 0 ? "0," + m.base() : m.offset() + "(" + m.base() + ")";
    }
}
