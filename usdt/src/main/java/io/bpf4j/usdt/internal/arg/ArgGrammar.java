package io.bpf4j.usdt.internal.arg;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * How the assembler of one machine spells operands, and where the kernel keeps that machine's registers.
 *
 * <p>An argument string holds what the compiler would print into an instruction at that place, so each machine has
 * a language of its own. The machine is that of the traced file, chosen by its ELF header at run time; nothing
 * here depends on the machine that this code runs on.
 */
public sealed interface ArgGrammar permits X86_64, I386 {

    /** What {@code uname -m} calls the machine. */
    String machine();

    /** Bytes of a general register and of a pointer; the size of an argument that declares none. */
    int wordSize();

    /**
     * Reads an operand.
     *
     * @param text the text after {@code SIZE@}, without blanks around it
     * @param size bytes that the argument declares; 0 if it doesn't
     * @return empty if this is no operand of the machine's assembler; {@link Operand.Unsupported} if it is one
     *     that can't be read
     */
    Optional<Operand> parse(String text, int size);

    /** Bytes of the register that an operand names, for arguments that declare no size: 4 for {@code %eax}. */
    int widthOf(String text);

    /** Writes an operand so that {@link #parse} gives the same again. Not for unsupported ones. */
    String print(Operand operand);

    /** The register that holds the address of the probe when it fires. */
    String instructionPointer();

    /**
     * Where the kernel saves a register: byte offset into {@code struct pt_regs}.
     *
     * @param register full name, as operands give it
     */
    OptionalInt offsetOf(String register);

    /**
     * The grammar for a machine.
     *
     * @param elfMachine {@code e_machine}
     * @param is64Bit the ELF class; some machine numbers are shared by a 32 and a 64-bit machine
     */
    static Optional<ArgGrammar> of(int elfMachine, boolean is64Bit) {
        return switch (elfMachine) {
            case 62 -> Optional.of(X86_64.INSTANCE);
            case 3 -> Optional.of(I386.INSTANCE);
            default -> Optional.empty();
        };
    }
}
