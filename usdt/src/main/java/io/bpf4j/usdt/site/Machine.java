package io.bpf4j.usdt.site;

import io.bpf4j.elf.ElfHeader;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The machine that a file is compiled for, which determines the grammar of argument strings. <i>Immutable.</i>
 *
 * <p>Tested by {@code ArgVectorsTest} and {@code ScannedFilesTest}.
 */
public enum Machine {
    X86_64(62, true, "x86_64"),
    I386(3, false, "i386"),
    AARCH64(183, true, "aarch64"),
    ARM(40, false, "arm"),
    RISCV64(243, true, "riscv64"),
    S390X(22, true, "s390x"),
    PPC64LE(21, true, "ppc64le"),
    LOONGARCH64(258, true, "loongarch64"),
    /** A machine whose argument strings can't be read; probes fire there, with all arguments unsupported. */
    OTHER(0, true, "other");

    private final int elfMachine;
    private final boolean is64Bit;
    private final String machineName;

    Machine(int elfMachine, boolean is64Bit, String machineName) {
        this.elfMachine = elfMachine;
        this.is64Bit = is64Bit;
        this.machineName = machineName;
    }

    /** The name that {@code uname -m} uses: {@code x86_64}, {@code aarch64}. */
    public String machineName() {
        return machineName;
    }

    /** Bytes of a pointer: 8 or 4. */
    public int wordSize() {
        return is64Bit ? 8 : 4;
    }

    /**
     * The byte offset of a register in {@code struct pt_regs} of a 64-bit kernel; empty for a register that the struct
     * does not have.
     *
     * @param register full name, as in {@link UsdtArg.Register}
     */
    public OptionalInt registerOffset(String register) {
        return ArgGrammar.of(this)
                .map(grammar -> grammar.registers.offsetOf(register))
                .orElse(OptionalInt.empty());
    }

    /**
     * The machine of an ELF file.
     *
     * @param elfMachine {@code e_machine} of its header
     * @param is64Bit whether it is ELFCLASS64. x86-64 with 32-bit pointers (x32) counts as x86-64
     */
    public static Machine of(int elfMachine, boolean is64Bit) {
        return Arrays.stream(values())
                .filter(m -> m != OTHER && m.elfMachine == elfMachine && (m.is64Bit == is64Bit || m == X86_64))
                .findFirst()
                .orElse(OTHER);
    }

    /** The machine of this name, or of another name in use for it: {@code amd64}, {@code arm64}, {@code i686}. */
    public static Optional<Machine> named(String name) {
        String canonical = switch (name.toLowerCase(java.util.Locale.ROOT).replace('-', '_')) {
            case "amd64", "x64", "x86_64" -> "x86_64";
            case "i486", "i586", "i686", "x86", "i386" -> "i386";
            case "arm64", "aarch64" -> "aarch64";
            case "armv7", "armv7l", "armhf", "arm" -> "arm";
            case "riscv", "riscv64" -> "riscv64";
            case "s390", "s390x" -> "s390x";
            case "ppc64", "ppc64el", "powerpc64le", "ppc64le" -> "ppc64le";
            case "loong64", "loongarch", "loongarch64" -> "loongarch64";
            default -> "";
        };
        return Arrays.stream(values())
                .filter(m -> m.machineName.equals(canonical))
                .findFirst();
    }

    /** The machine that this JVM runs on. */
    public static Machine ofHost() {
        return named(System.getProperty("os.arch", "")).orElse(OTHER);
    }

    /**
     * Whether a kernel of this machine may run such files: files of the machine itself, and 32-bit files of its
     * predecessor.
     *
     * @param elfMachineOfFile {@code e_machine} of the file's header
     */
    public boolean runs(int elfMachineOfFile) {
        return elfMachineOfFile == elfMachine
                || switch (this) {
                    case X86_64 -> elfMachineOfFile == ElfHeader.EM_386;
                    case AARCH64 -> elfMachineOfFile == ElfHeader.EM_ARM;
                    case PPC64LE -> elfMachineOfFile == ElfHeader.EM_PPC;
                    default -> false;
                };
    }
}
