package io.bpf4j.elf;

/**
 * The values of {@code e_machine} that are relevant for BPF and USDT, and their names.
 *
 * <p>The set is open, so a machine is represented by the number in the file. Values: Linux {@code
 * include/uapi/linux/elf-em.h}.
 *
 * <p>Tested by {@code ElfFileTest}.
 */
public final class ElfMachine {
    public static final int NONE = 0;
    public static final int SPARC = 2;
    public static final int I386 = 3;
    public static final int MIPS = 8;
    public static final int PARISC = 15;
    public static final int PPC = 20;
    public static final int PPC64 = 21;
    public static final int S390 = 22;
    public static final int ARM = 40;
    public static final int SH = 42;
    public static final int SPARCV9 = 43;
    public static final int IA64 = 50;
    public static final int X86_64 = 62;
    public static final int AARCH64 = 183;
    public static final int RISCV = 243;
    public static final int BPF = 247;
    public static final int LOONGARCH = 258;
    public static final int ALPHA = 0x9026;

    private ElfMachine() {}

    /** The usual name of a machine, such as {@code x86_64}; {@code machine 1234} for an unknown machine. */
    public static String name(int machine) {
        return switch (machine) {
            case NONE -> "none";
            case SPARC -> "sparc";
            case I386 -> "i386";
            case MIPS -> "mips";
            case PARISC -> "parisc";
            case PPC -> "ppc";
            case PPC64 -> "ppc64";
            case S390 -> "s390";
            case ARM -> "arm";
            case SH -> "sh";
            case SPARCV9 -> "sparcv9";
            case IA64 -> "ia64";
            case X86_64 -> "x86_64";
            case AARCH64 -> "aarch64";
            case RISCV -> "riscv";
            case BPF -> "bpf";
            case LOONGARCH -> "loongarch";
            case ALPHA -> "alpha";
            default -> "machine " + machine;
        };
    }
}
