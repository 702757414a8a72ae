package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * s390x: {@code %r2}, {@code 160(%r15)}, constants without a mark. {@code D(X,B)} is displacement, index, base, in this
 * order; register 0 in an address is not a register but the number 0. Offsets mirror {@code user_pt_regs} of
 * arch/s390/include/uapi/asm/ptrace.h: an argument word, psw mask and address, then r0 to r15.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class S390x extends ArgGrammar {
    private static final Registers REGISTERS = registers();

    // After the registers, which its constructor uses.
    static final S390x INSTANCE = new S390x();

    private S390x() {
        super(Machine.S390X, "pc", REGISTERS, "", "%");
    }

    private static Registers registers() {
        Registers all = new Registers().add(16, 8, "pc");
        for (int n = 0; n <= 15; n++) {
            all.add(24 + 8 * n, 8, "r" + n);
        }
        return all;
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        int open = text.lastIndexOf('(');
        if (open >= 0 && text.endsWith(")")) {
            return memory(text, Blanks.strip(text.substring(0, open)), text.substring(open + 1, text.length() - 1));
        }
        if (text.startsWith("%")) {
            return register(text.substring(1), "f", "v", "a");
        }
        return unmarkedConstant(text, size);
    }

    private Optional<Operand> memory(String text, String displacement, String inside) {
        String[] parts = inside.split(",", -1);
        Optional<Expression> offset = Expression.parse(displacement).filter(e -> e.symbol() == null);
        String base = Blanks.strip(parts[parts.length - 1]);
        String index = parts.length == 2 ? Blanks.strip(parts[0]) : "%r0";
        if (offset.isEmpty() || parts.length > 2 || !isRegister(base) || !isRegister(index)) {
            return Optional.empty();
        }
        return Optional.of(memory(text, offset.get().value(), addend(base), addend(index)));
    }

    private static Operand memory(String text, long displacement, @Nullable String base, @Nullable String index) {
        if (base != null) {
            UsdtArg.Memory address = UsdtArg.Memory.of(base, displacement);
            return index == null ? address : address.withIndex(index, 1);
        }
        return index != null ? UsdtArg.Memory.of(index, displacement) : absolute(text);
    }

    private boolean isRegister(String text) {
        return text.startsWith("%") && registers.find(text.substring(1)).isPresent();
    }

    private static @Nullable String addend(String register) {
        return register.equals("%r0") ? null : register.substring(1);
    }

    @Override
    String print(UsdtArg.Memory m) {
        return m.offset() + "(" + m.index().map(index -> "%" + index + ",").orElse("") + "%" + m.base() + ")";
    }
}
