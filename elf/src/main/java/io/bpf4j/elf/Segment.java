package io.bpf4j.elf;

/**
 * A program header: a part of the file that the kernel or the dynamic linker uses. <i>Immutable.</i>
 *
 * @param index place in the segment table, from 0
 * @param type {@link #PT_LOAD} or another {@code PT_} constant, or any other number
 * @param flags set of {@link #PF_X}, {@link #PF_W}, {@link #PF_R}
 * @param offset where its bytes start, from the start of the ELF
 * @param virtualAddress where they are mapped, before the load bias
 * @param physicalAddress ignored by Linux
 * @param fileSize bytes in the file
 * @param memorySize bytes in memory; those beyond {@code fileSize} are zero
 * @param alignment in bytes; 0 and 1 mean none
 */
public record Segment(
        int index,
        int type,
        int flags,
        long offset,
        long virtualAddress,
        long physicalAddress,
        long fileSize,
        long memorySize,
        long alignment) {
    public static final int PT_LOAD = 1;
    public static final int PT_DYNAMIC = 2;
    public static final int PT_NOTE = 4;

    public static final int PF_X = 1;
    public static final int PF_W = 2;
    public static final int PF_R = 4;

    public boolean isExecutable() {
        return (flags & PF_X) != 0;
    }

    /** Whether a virtual address is in the part of the segment that the file contains. */
    boolean contains(long address) {
        return Long.compareUnsigned(address, virtualAddress) >= 0
                && Long.compareUnsigned(address - virtualAddress, fileSize) < 0;
    }
}
