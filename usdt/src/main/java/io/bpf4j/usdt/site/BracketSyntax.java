package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Objects;
import java.util.Optional;

/**
 * Memory operands in brackets, which arm64 and arm share; they differ in how numbers are marked.
 *
 * <pre>
 *   [x4]  [x4, -8]  [r7, #12]      base, displacement
 *   [x3, x0]  [x0, x1, lsl 2]      base, index, and by how many bits the index is shifted
 *   [x1, w0, sxtw 2]  [x1, w0, uxtw]   the same with half of a register, extended to 64 bits
 *   [x2, #:lo12:sym]               base holds the 4 KiB page of sym: the address is that of sym
 * </pre>
 *
 * <p>Refused: shifts that are not a scale of 1, 2, 4 or 8, an index that is subtracted, and operands that change their
 * base.
 *
 * <p>Tested by {@code OtherMachinesTest} and {@code ArgVectorsTest}.
 */
final class BracketSyntax {
    private final Registers registers;
    private final String instructionPointer;
    private final String numberMark;

    BracketSyntax(Registers registers, String instructionPointer, String numberMark) {
        this.registers = registers;
        this.instructionPointer = instructionPointer;
        this.numberMark = numberMark;
    }

    Optional<Operand> parse(String text) {
        int close = text.indexOf(']');
        if (!text.startsWith("[") || close < 0) {
            return Optional.empty();
        }
        String after = Blanks.strip(text.substring(close + 1));
        if (!after.isEmpty()) {
            return after.equals("!") || after.startsWith(",")
                    ? Optional.of(ArgGrammar.unreadable(ArgGrammar.quote(text) + " changes its base register"))
                    : Optional.empty();
        }
        String[] parts = text.substring(1, close).split(",", -1);
        Optional<Register> base = registers.find(Blanks.strip(parts[0]));
        if (base.isEmpty() || parts.length > 3) {
            return Optional.empty();
        }
        String name = base.get().fullName();
        return switch (parts.length) {
            case 1 -> Optional.of(UsdtArg.Memory.of(name, 0));
            case 2 -> second(text, name, Blanks.strip(parts[1]));
            default -> shifted(text, name, Blanks.strip(parts[1]), Blanks.strip(parts[2]));
        };
    }

    private Optional<Operand> second(String text, String base, String part) {
        String unmarked = part.startsWith("#") ? part.substring(1) : part;
        if (unmarked.startsWith(":lo12:")) {
            return Expression.parse(unmarked.substring(6))
                    .filter(e -> e.symbol() != null && !e.negated() && e.relocation() == null)
                    .map(e -> UsdtArg.Memory.of(instructionPointer, e.value())
                            .withSymbol(Objects.requireNonNull(e.symbol())));
        }
        if (unmarked.startsWith(":")) {
            return Optional.of(ArgGrammar.linkerOnly(text));
        }
        Optional<Expression> number = Expression.parse(unmarked).filter(e -> e.symbol() == null && !unmarked.isEmpty());
        return number.isPresent()
                ? number.map(e -> UsdtArg.Memory.of(base, e.value()))
                : shifted(text, base, part, "lsl 0");
    }

    private Optional<Operand> shifted(String text, String base, String index, String shift) {
        if (index.startsWith("-") && registers.find(index.substring(1)).isPresent()) {
            return Optional.of(ArgGrammar.unreadable(ArgGrammar.quote(text) + " subtracts its index"));
        }
        Optional<Register> register = registers.find(index);
        if (register.isEmpty()) {
            return Optional.empty();
        }
        String[] words =
                (shift.endsWith("xtx") || shift.endsWith("xtw") ? shift + " 0" : shift).split("[ \\t\\n\\r#]+", -1);
        String fullName = register.get().fullName();
        boolean isHalf =
                registers.find(fullName).orElseThrow().width() > register.get().width();
        int size;
        switch (words[0]) {
            // Extending 64 bits to 64 bits has no effect.
            case "lsl", "sxtx", "uxtx" -> size = isHalf ? 0 : 8;
            case "uxtw" -> size = isHalf ? 4 : 0;
            case "sxtw" -> size = isHalf ? -4 : 0;
            case "asr", "lsr", "ror", "rrx" -> {
                return Optional.of(ArgGrammar.unreadable(ArgGrammar.quote(text) + " uses part of its index register"));
            }
            default -> {
                return Optional.empty();
            }
        }
        if (size == 0) {
            return Optional.of(ArgGrammar.unreadable(
                    ArgGrammar.quote(text) + " does not say how its index register is extended to 64 bits"));
        }
        Optional<Long> bits = words.length == 2 ? Expression.signedNumber(words[1]) : Optional.empty();
        return bits.map(b -> b >= 0 && b <= 3
                ? UsdtArg.Memory.of(base, 0).withIndex(fullName, 1 << b, size)
                : ArgGrammar.unreadable(
                        ArgGrammar.quote(text) + " shifts its index by " + b + " bits; only 0 to 3 can be expressed"));
    }

    String print(UsdtArg.Memory m) {
        if (m.symbol().isPresent()) {
            return "[" + m.base() + ", #:lo12:" + Expression.print(m.symbol().get(), m.offset()) + "]";
        }
        if (m.index().isEmpty()) {
            return m.offset() == 0 ? "[" + m.base() + "]" : "[" + m.base() + ", " + numberMark + m.offset() + "]";
        }
        String index = m.index().get();
        if (m.indexSize() != 8) {
            String half = "w" + index.substring(1);
            // Only arm64 has half registers, and not for all registers.
            if (registers.find(half).filter(r -> r.fullName().equals(index)).isEmpty()) {
                throw ArgGrammar.unprintable(m);
            }
            String shift = m.scale() == 1 ? "" : " " + numberMark + Integer.numberOfTrailingZeros(m.scale());
            return "[" + m.base() + ", " + half + (m.indexSize() < 0 ? ", sxtw" : ", uxtw") + shift + "]";
        }
        String shift = m.scale() == 1 ? "" : ", lsl " + numberMark + Integer.numberOfTrailingZeros(m.scale());
        return "[" + m.base() + ", " + index + shift + "]";
    }
}
