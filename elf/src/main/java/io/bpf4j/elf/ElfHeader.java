package io.bpf4j.elf;

import java.nio.ByteOrder;
import java.util.Optional;

/**
 * The header of an ELF file. <i>Immutable.</i>
 *
 * <p>The counts and the index of the section with section names are the true values, even if they exceed the 16-bit
 * fields of the header and are stored elsewhere.
 *
 * @param elfClass 32 or 64 bits
 * @param order byte order of every number in the file
 * @param osAbi {@code e_ident[EI_OSABI]}: 0 System V, 3 Linux (GNU extensions)
 * @param abiVersion {@code e_ident[EI_ABIVERSION]}
 * @param type {@link #ET_REL} or another {@code ET_} constant
 * @param machine {@link #EM_X86_64} or another {@code EM_} constant, or any other number
 * @param entry virtual address of the entry point; 0 if there is none
 * @param flags {@code e_flags}, their meaning depends on the machine
 * @param programHeaderOffset where the segment table starts, in bytes from the start of the ELF
 * @param programHeaderEntrySize bytes per entry of the segment table
 * @param programHeaderCount number of segments
 * @param sectionHeaderOffset where the section table starts, in bytes from the start of the ELF; 0 if there is none
 * @param sectionHeaderEntrySize bytes per entry of the section table
 * @param sectionHeaderCount number of sections, the empty section 0 included; 0 if there is no section table
 * @param sectionNameTableIndex index of the string table with the sections' names; 0 if sections have no names
 */
public record ElfHeader(
        ElfClass elfClass,
        ByteOrder order,
        int osAbi,
        int abiVersion,
        int type,
        int machine,
        long entry,
        int flags,
        long programHeaderOffset,
        int programHeaderEntrySize,
        long programHeaderCount,
        long sectionHeaderOffset,
        int sectionHeaderEntrySize,
        long sectionHeaderCount,
        long sectionNameTableIndex) {
    /** A relocatable object, such as a compiled BPF object. */
    public static final int ET_REL = 1;
    /** An executable at fixed addresses. */
    public static final int ET_EXEC = 2;
    /** A shared library or a position-independent executable. */
    public static final int ET_DYN = 3;
    /** A core dump. */
    public static final int ET_CORE = 4;

    /** No machine. The {@code EM_} constants are values of {@code e_machine}: Linux include/uapi/linux/elf-em.h. */
    public static final int EM_NONE = 0;

    public static final int EM_386 = 3;
    public static final int EM_MIPS = 8;
    public static final int EM_PPC = 20;
    public static final int EM_S390 = 22;
    public static final int EM_ARM = 40;
    public static final int EM_X86_64 = 62;
    public static final int EM_AARCH64 = 183;
    public static final int EM_RISCV = 243;
    public static final int EM_BPF = 247;
    public static final int EM_LOONGARCH = 258;
    public static final int EM_ALPHA = 0x9026;

    /**
     * Why no process runs code of such a file; empty for programs and libraries. Probes are attached at offsets in a
     * file that processes map as code. The kernel accepts any file, but probes in a file that is not mapped as code
     * never fire.
     */
    public Optional<String> whyNotRun() {
        return switch (type) {
            case ET_EXEC, ET_DYN -> Optional.empty();
            case ET_REL ->
                Optional.of("is an object file (ET_REL): attach to the program or library that is linked from it");
            case ET_CORE -> Optional.of("is a core dump (ET_CORE), which no process runs");
            default -> Optional.of("is neither a program nor a library (ELF type " + type + ")");
        };
    }

    /** Whether this is a BPF object: its machine is {@link #EM_BPF}. */
    public boolean isBpf() {
        return machine == EM_BPF;
    }

    /** The usual name of the machine, such as {@code x86_64}; {@code machine 1234} for an unknown machine. */
    public String machineName() {
        return switch (machine) {
            case EM_NONE -> "none";
            case 2 -> "sparc";
            case EM_386 -> "i386";
            case EM_MIPS -> "mips";
            case 15 -> "parisc";
            case EM_PPC -> "ppc";
            case 21 -> "ppc64";
            case EM_S390 -> "s390";
            case EM_ARM -> "arm";
            case 42 -> "sh";
            case 43 -> "sparcv9";
            case 50 -> "ia64";
            case EM_X86_64 -> "x86_64";
            case EM_AARCH64 -> "aarch64";
            case EM_RISCV -> "riscv";
            case EM_BPF -> "bpf";
            case EM_LOONGARCH -> "loongarch";
            case EM_ALPHA -> "alpha";
            default -> "machine " + machine;
        };
    }
}
