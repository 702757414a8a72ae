package io.bpf4j.usdt.site;

import io.bpf4j.usdt.site.Registers.Register;
import io.bpf4j.usdt.site.UsdtArg.Operand;
import java.util.Optional;

/**
 * The operand syntax of one machine's assembler, and the locations of that machine's registers in {@code struct
 * pt_regs}. <i>Immutable.</i>
 *
 * <p>An argument string contains operands as the compiler would print them in an instruction, so each machine has a
 * grammar of its own. The machine is the machine of the traced file, chosen by its ELF header at run time; no grammar
 * depends on the machine that this code runs on.
 *
 * <p>Names of parts of one register, such as {@code %eax} and {@code %rax}, map to one full name; offsets into {@code
 * struct pt_regs} are those of a 64-bit kernel, because bpf4j runs on 64-bit kernels only. Such a kernel saves the
 * registers of a 32-bit process in the slots of their 64-bit successors.
 *
 * <p>Tested by {@code ArgVectorsTest} and {@code ArgumentPropertiesTest}.
 */
abstract sealed class ArgGrammar permits AttSyntax, Arm64, Arm, RiscV64, S390x, Ppc64, LoongArch64 {
    private static final int MAX_QUOTED = 80;

    private final Machine machine;
    private final String constantMark;
    private final String registerMark;
    final String instructionPointer;
    final Registers registers;

    /**
     * A grammar.
     *
     * @param instructionPointer the register that holds the address of the probe when it fires
     * @param constantMark the characters before a constant
     * @param registerMark the characters before the name of a register
     */
    ArgGrammar(
            Machine machine, String instructionPointer, Registers registers, String constantMark, String registerMark) {
        this.machine = machine;
        this.instructionPointer = instructionPointer;
        this.registers = registers;
        this.constantMark = constantMark;
        this.registerMark = registerMark;
    }

    /** The grammar of a machine; empty for {@link Machine#OTHER}. */
    static Optional<ArgGrammar> of(Machine machine) {
        return switch (machine) {
            case X86_64 -> Optional.of(AttSyntax.X86_64);
            case I386 -> Optional.of(AttSyntax.I386);
            case AARCH64 -> Optional.of(Arm64.INSTANCE);
            case ARM -> Optional.of(Arm.INSTANCE);
            case RISCV64 -> Optional.of(RiscV64.INSTANCE);
            case S390X -> Optional.of(S390x.INSTANCE);
            case PPC64LE -> Optional.of(Ppc64.INSTANCE);
            case LOONGARCH64 -> Optional.of(LoongArch64.INSTANCE);
            case OTHER -> Optional.empty();
        };
    }

    /**
     * Reads an operand.
     *
     * @param text the text after {@code SIZE@}, without blanks around it
     * @param size bytes that the argument declares; 0 if it doesn't
     * @return empty if the text is not an operand of the machine's assembler; {@link UsdtArg.Unsupported} if it is an
     *     operand that can't be read
     */
    abstract Optional<Operand> parse(String text, int size);

    /** Prints an operand in memory so that {@link #parse} gives an equal one. */
    abstract String print(UsdtArg.Memory memory);

    /**
     * Prints a result of {@link #parse} so that parsing the text gives an equal operand. Not for unsupported operands.
     */
    final String print(Operand operand) {
        return switch (operand) {
            case UsdtArg.Constant c -> constantMark + c.value();
            case UsdtArg.Register r -> registerMark + r.name();
            case UsdtArg.Memory m -> print(m);
            case UsdtArg.Unsupported u -> throw unprintable(u);
        };
    }

    /** Bytes of the register that an operand names, for arguments that declare no size: 4 for {@code %eax}. */
    final int widthOf(String text) {
        Optional<Register> register = text.startsWith(registerMark)
                ? registers.find(text.substring(registerMark.length()))
                : Optional.empty();
        return register.map(Register::width).orElse(machine.wordSize());
    }

    final Machine machine() {
        return machine;
    }

    /**
     * On machines whose constants have no mark: {@code -9} is one, and so is {@code table+16}, the address of a symbol.
     */
    static Optional<Operand> unmarkedConstant(String text) {
        return text.isEmpty() ? Optional.empty() : Expression.parse(text).map(ArgGrammar::constant);
    }

    /** The same of an operand that is no register. Without a size only a number is one: a word alone says too little. */
    static Optional<Operand> unmarkedConstant(String text, int size) {
        return size == 0 && Expression.signedNumber(text).isEmpty() ? Optional.empty() : unmarkedConstant(text);
    }

    static Operand constant(Expression e) {
        return e.symbol() == null
                ? new UsdtArg.Constant(e.value())
                : unreadable("the constant is the address of " + quote(e.symbol())
                        + ", which is not known before the program is loaded");
    }

    /**
     * A general register, or one that can't be read.
     *
     * @param name without the mark of registers
     * @param special what the names of floating point and vector registers have before their numbers
     */
    final Optional<Operand> register(String name, String... special) {
        return isNumbered(name, special)
                ? Optional.of(notGeneral(registerMark + name))
                : registers.find(name).map(register -> new UsdtArg.Register(register.fullName()));
    }

    static Operand notGeneral(String register) {
        return unreadable(
                quote(register) + " is a floating point, vector or other special register, and struct pt_regs has only"
                        + " general registers");
    }

    static Operand linkerOnly(String text) {
        return unreadable(quote(text) + " is a value that only the linker knows");
    }

    static Operand absolute(String text) {
        return unreadable(quote(text) + " is memory at an absolute address");
    }

    /** Text of a file for use in a reason: whole if it is short, as all valid operands are. */
    static String quote(String text) {
        return text.length() <= MAX_QUOTED
                ? "'" + text + "'"
                : "'" + text.substring(0, MAX_QUOTED) + "…' (" + text.length() + " characters)";
    }

    /** On 32-bit machines 8 bytes take two registers, and an operand names only the first ({@code 8f@%edx}). */
    final Operand notHalfOfPair(Operand operand, int size) {
        return operand instanceof UsdtArg.Register r && size > machine.wordSize()
                ? unreadable(
                        "a value of " + size + " bytes takes a pair of registers, and only " + r.name() + " is named")
                : operand;
    }

    /** An operand of the machine that can't be read; {@link ArgumentString} adds its text. */
    static Operand unreadable(String reason) {
        return new UsdtArg.Unsupported(reason, "");
    }

    static IllegalArgumentException unprintable(Operand operand) {
        return new IllegalArgumentException("the machine's assembler can't express " + operand);
    }

    /** Whether text is one of these prefixes and a number: {@code d0}, {@code v31}. */
    static boolean isNumbered(String text, String... prefixes) {
        for (String prefix : prefixes) {
            if (text.startsWith(prefix)
                    && text.length() > prefix.length()
                    && text.substring(prefix.length()).chars().allMatch(c -> c >= '0' && c <= '9')) {
                return true;
            }
        }
        return false;
    }
}
