package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * AT&amp;T operands, which x86-64 and i386 share.
 *
 * <pre>
 *   $-9              constant
 *   %r9w             register, by the name of the part that the compiler used
 *   -20(%rbp)        memory: displacement + base
 *   4(%rcx,%r9,8)    memory: displacement + base + index * scale
 *   24+sym(%rip)     memory: symbol + displacement
 * </pre>
 *
 * <p><b>Symbols.</b> {@code sym(%rip)} is the address of sym. So is plain {@code sym}, and {@code sym@GOTOFF(%ebx)},
 * whose base must hold the address of the GOT. {@code sym(,%rdi,4)} and {@code sym(%rdi)} are sym plus an index. All of
 * them are converted to one form: the instruction pointer as base, plus symbol. Such an address has a fixed distance
 * from the probe, at every load address.
 *
 * <p><b>Operands that are recognised, but refused.</b> Vector and x87 registers are not in {@code struct pt_regs}. The
 * segments fs and gs ({@code %fs:v@tpoff}) address thread-local storage, whose base is not in {@code struct pt_regs}
 * either; the other segments begin at 0 and have no effect. {@code sym@GOTPCREL(%rip)} is a GOT slot that the linker
 * may not have made, because the string is not a relocation. Intel's syntax ({@code -masm=intel}) is recognised, so
 * that the reason can name it.
 *
 * <p>Tested by {@code UsdtArgTest} and {@code ArgVectorsTest}.
 */
final class AttSyntax extends ArgGrammar {
    static final AttSyntax X86_64 = new AttSyntax(Machine.X86_64, "rip", X86Registers.X86_64);
    static final AttSyntax I386 = new AttSyntax(Machine.I386, "eip", X86Registers.I386);

    private AttSyntax(Machine machine, String instructionPointer, Registers registers) {
        super(machine, instructionPointer, registers, "$", "%");
    }

    @Override
    Optional<Operand> parse(String text, int size) {
        return operand(text, size).map(operand -> notHalfOfPair(operand, size));
    }

    private Optional<Operand> operand(String text, int size) {
        if (text.startsWith("$")) {
            return Optional.of(marked(Blanks.strip(text.substring(1))));
        }
        if (text.startsWith("%")) {
            int colon = text.indexOf(':');
            return colon < 0
                    ? register(text.substring(1), size)
                    : segment(text, text.substring(0, colon), text.substring(colon + 1), size);
        }
        if (text.indexOf('[') >= 0 || text.contains(" PTR ")) {
            return Optional.of(unreadable(quote(text) + " is Intel's syntax (-masm=intel); only AT&T's is read"));
        }
        int open = openOfLast(text);
        String inside = open < 0 ? "" : text.substring(open + 1, text.length() - 1);
        if (open < 0 || isArithmetic(inside)) {
            // A single word is a symbol only if a size marks it as an operand.
            return text.isEmpty() || size == 0
                    ? Optional.empty()
                    : Expression.parse(text).map(e -> absolute(text, e));
        }
        String[] parts = inside.split(",", -1);
        return parts.length > 3
                ? Optional.empty()
                : Expression.parse(Blanks.strip(text.substring(0, open))).flatMap(e -> memory(text, e, parts));
    }

    private static Operand marked(String text) {
        return unmarkedConstant(text).orElseGet(() -> unreadable(quote("$" + text) + " is not a 64-bit constant"));
    }

    private Optional<Operand> register(String name, int size) {
        Optional<Register> known = registers.find(name);
        if (known.isEmpty()) {
            return UnsavedX86.reason(name).map(ArgGrammar::unreadable);
        }
        // %ah, %bh, %ch and %dh hold one byte; more would be read from the neighbouring register.
        boolean highByte = name.length() == 2 && name.endsWith("h");
        return Optional.of(
                highByte && size > 1
                        ? unreadable("a value of " + size + " bytes does not fit a register of 1 byte")
                        : new UsdtArg.Register(known.get().fullName()));
    }

    private Optional<Operand> segment(String text, String segment, String afterColon, int size) {
        String rest = Blanks.strip(afterColon);
        return switch (segment) {
            case "%cs", "%ds", "%es", "%ss" ->
                rest.startsWith("%") || rest.startsWith("$") ? Optional.empty() : operand(rest, size);
            case "%fs", "%gs" ->
                Optional.of(unreadable(quote(text) + " is relative to segment " + segment
                        + " (thread-local storage), whose base is not in struct pt_regs"));
            default -> Optional.empty();
        };
    }

    /** The opening parenthesis that matches the one at the end, or -1. */
    private static int openOfLast(String text) {
        if (!text.endsWith(")")) {
            return -1;
        }
        int depth = 0;
        for (int i = text.length() - 1; i >= 0; i--) {
            char c = text.charAt(i);
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        return -1;
    }

    /** Whether parentheses group a sum and do not contain registers: {@code (8+4)}. */
    private static boolean isArithmetic(String inside) {
        return !Blanks.strip(inside).isEmpty() && inside.indexOf('%') < 0 && inside.indexOf(',') < 0;
    }

    private Operand absolute(String text, Expression e) {
        return e.symbol() == null ? ArgGrammar.absolute(text) : symbolic(text, e, null, 1);
    }

    private Optional<Operand> memory(String text, Expression e, String[] parts) {
        String base = Blanks.strip(parts[0]);
        String index = parts.length > 1 ? Blanks.strip(parts[1]) : "";
        String scaleText = parts.length > 2 ? Blanks.strip(parts[2]) : "";
        Optional<Register> baseRegister = addressRegister(base);
        Optional<Register> indexRegister = addressRegister(index);
        boolean unknown = (baseRegister.isEmpty() && !base.isEmpty()) || (indexRegister.isEmpty() && !index.isEmpty());
        if (unknown || (base.isEmpty() && index.isEmpty())) {
            return Optional.empty();
        }
        int scale;
        switch (scaleText) {
            case "", "1" -> scale = 1;
            case "2" -> scale = 2;
            case "4" -> scale = 4;
            case "8" -> scale = 8;
            default -> {
                return Optional.empty();
            }
        }
        if (indexRegister.isPresent() && indexRegister.get().fullName().equals(instructionPointer)) {
            return Optional.empty();
        }
        return Optional.of(memory(text, e, name(baseRegister), name(indexRegister), scale));
    }

    private Operand memory(String text, Expression e, @Nullable String base, @Nullable String index, int scale) {
        if (e.symbol() == null) {
            if (base != null) {
                return indexed(UsdtArg.Memory.of(base, e.value()), index, scale);
            }
            if (index != null && scale == 1) {
                return UsdtArg.Memory.of(index, e.value());
            }
            return unreadable(quote(text) + " has a scaled index but no base register");
        }
        if (base == null || base.equals(instructionPointer)) {
            return symbolic(text, e, index, scale);
        }
        if (isGotOffset(e)) {
            // The base holds the GOT's address and the symbol is relative to it: both cancel out.
            return symbolic(text, e, index, scale);
        }
        if (index != null) {
            return unreadable(quote(text) + " adds two registers to the address of " + quote(e.symbol()));
        }
        return symbolic(text, e, base, 1);
    }

    private Operand symbolic(String text, Expression e, @Nullable String index, int scale) {
        if (e.negated()) {
            return unreadable(quote(text) + " subtracts the address of a symbol");
        }
        if (e.relocation() != null && !isGotOffset(e)) {
            return unreadable(quote(e.symbol() + "@" + e.relocation())
                    + " is a value that only the linker knows (a slot of the GOT or PLT, or an offset of thread-local"
                    + " storage)");
        }
        UsdtArg.Memory address = UsdtArg.Memory.of(instructionPointer, e.value());
        return indexed(e.symbol() == null ? address : address.withSymbol(e.symbol()), index, scale);
    }

    private static UsdtArg.Memory indexed(UsdtArg.Memory address, @Nullable String index, int scale) {
        return index == null ? address : address.withIndex(index, scale);
    }

    private static boolean isGotOffset(Expression e) {
        return "GOTOFF".equals(e.relocation());
    }

    /** Narrower and high-byte registers can't hold an address. */
    private Optional<Register> addressRegister(String text) {
        return text.startsWith("%") ? registers.find(text.substring(1)).filter(r -> r.width() >= 4) : Optional.empty();
    }

    private static @Nullable String name(Optional<Register> register) {
        return register.map(Register::fullName).orElse(null);
    }

    @Override
    String print(UsdtArg.Memory m) {
        String offset = m.symbol()
                .map(symbol -> Expression.print(symbol, m.offset()))
                .orElse(m.offset() == 0 ? "" : Long.toString(m.offset()));
        String index = m.index()
                .map(register -> ",%" + register + (m.scale() == 1 ? "" : "," + m.scale()))
                .orElse("");
        return offset + "(%" + m.base() + index + ")";
    }
}
