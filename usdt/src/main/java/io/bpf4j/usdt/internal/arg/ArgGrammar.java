package io.bpf4j.usdt.internal.arg;

import io.bpf4j.usdt.internal.arg.Registers.Register;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * How the assembler of one machine spells operands, and where the kernel keeps that machine's registers.
 * <b>Immutable</b>.
 *
 * <p>An argument string holds what the compiler would print into an instruction at that place, so each machine has
 * a language of its own. The machine is that of the traced file, chosen by its ELF header at run time; nothing
 * here depends on the machine that this code runs on.
 *
 * <p>Registers that only bits of one machine share, such as {@code %eax} and {@code %rax}, have one full name; offsets
 * into {@code struct pt_regs} are those of a 64-bit kernel, which is all that bpf4j runs on. It saves the registers of a
 * 32-bit process in the slots of their 64-bit successors.
 */
public abstract sealed class ArgGrammar permits X86_64, I386, Arm64, Arm, RiscV64, S390x, Ppc64, LoongArch64 {
    private static final int MAX_QUOTED = 80;

    private final String machine;
    private final int wordSize;
    private final String instructionPointer;
    final Registers registers;

    ArgGrammar(String machine, int wordSize, String instructionPointer, Registers registers) {
        this.machine = machine;
        this.wordSize = wordSize;
        this.instructionPointer = instructionPointer;
        this.registers = registers;
    }

    /**
     * The grammar for a machine.
     *
     * @param elfMachine {@code e_machine}
     * @param is64Bit the ELF class; some machine numbers are shared by a 32 and a 64-bit machine
     */
    public static Optional<ArgGrammar> of(int elfMachine, boolean is64Bit) {
        return switch (elfMachine) {
            case 62 -> Optional.of(X86_64.INSTANCE);
            case 3 -> Optional.of(I386.INSTANCE);
            case 183 -> only64(is64Bit, Arm64.INSTANCE);
            case 40 -> Optional.of(Arm.INSTANCE);
            case 243 -> only64(is64Bit, RiscV64.INSTANCE);
            case 22 -> only64(is64Bit, S390x.INSTANCE);
            case 21 -> Optional.of(Ppc64.INSTANCE);
            case 258 -> only64(is64Bit, LoongArch64.INSTANCE);
            default -> Optional.empty();
        };
    }

    private static Optional<ArgGrammar> only64(boolean is64Bit, ArgGrammar grammar) {
        return is64Bit ? Optional.of(grammar) : Optional.empty();
    }

    /**
     * Reads an operand.
     *
     * @param text the text after {@code SIZE@}, without blanks around it
     * @param size bytes that the argument declares; 0 if it doesn't
     * @return empty if this is no operand of the machine's assembler; {@link Operand.Unsupported} if it is one
     *     that can't be read
     */
    abstract Optional<Operand> parse(String text, int size);

    /** Writes an operand that {@link #parse} gave so that it gives the same again. Not for unsupported ones. */
    abstract String print(Operand operand);

    /** Bytes of the register that an operand names, for arguments that declare no size: 4 for {@code %eax}. */
    int widthOf(String text) {
        return registers.find(text).map(Register::width).orElse(wordSize);
    }

    /** What {@code uname -m} calls the machine. */
    public final String machine() {
        return machine;
    }

    /** Bytes of a general register and of a pointer; the size of an argument that declares none. */
    public final int wordSize() {
        return wordSize;
    }

    /** The register that holds the address of the probe when it fires. */
    public final String instructionPointer() {
        return instructionPointer;
    }

    /**
     * Where the kernel saves a register: byte offset into {@code struct pt_regs}.
     *
     * @param register full name, as operands give it
     */
    public final OptionalInt offsetOf(String register) {
        return registers.offsetOf(register);
    }

    /**
     * On machines whose constants have no mark: {@code -9} is one, and so is {@code table+16}, the address of a symbol.
     */
    static Optional<Operand> unmarkedConstant(String text) {
        return text.isEmpty() ? Optional.empty() : Expression.parse(text).map(ArgGrammar::constant);
    }

    static Operand constant(Expression e) {
        return e.symbol() == null
                ? new Operand.Constant(e.value())
                : new Operand.Unsupported("the constant is the address of " + quote(e.symbol())
                        + ", which is not known before the program is loaded");
    }

    static Operand notGeneral(String register) {
        return new Operand.Unsupported(
                quote(register)
                        + " is a floating point, vector or other special register, and struct pt_regs has only general registers");
    }

    static Operand linkerOnly(String text) {
        return new Operand.Unsupported(quote(text) + " is a place that only the linker knows");
    }

    static Operand absolute(String text) {
        return new Operand.Unsupported(quote(text) + " is memory at an absolute address");
    }

    /** Text of a file within a reason: whole where it is short, as all sound operands are. */
    static String quote(String text) {
        return text.length() <= MAX_QUOTED
                ? "'" + text + "'"
                : "'" + text.substring(0, MAX_QUOTED) + "…' (" + text.length() + " characters)";
    }

    static IllegalArgumentException noSpelling(Operand operand) {
        return new IllegalArgumentException("no spelling for " + operand);
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
