package io.bpf4j.elf;

/**
 * Whether a file's addresses and offsets are 32 or 64 bits wide, and the sizes in bytes that follow from it.
 *
 * <p>32-bit fields are widened as they are read, so code outside this package does not see the difference.
 *
 * <p>Tested by {@code ElfFileTest}.
 */
public enum ElfClass {
    ELF32(4, 52, 32, 40, 16, 8),
    ELF64(8, 64, 56, 64, 24, 16);

    private final int addressSize;
    final int headerSize;
    final int programHeaderSize;
    final int sectionHeaderSize;
    final int symbolSize;
    /** Size of Elf_Rel; an Elf_Rela has one more word of {@link #addressSize()}. */
    final int relSize;

    ElfClass(
            int addressSize,
            int headerSize,
            int programHeaderSize,
            int sectionHeaderSize,
            int symbolSize,
            int relSize) {
        this.addressSize = addressSize;
        this.headerSize = headerSize;
        this.programHeaderSize = programHeaderSize;
        this.sectionHeaderSize = sectionHeaderSize;
        this.symbolSize = symbolSize;
        this.relSize = relSize;
    }

    /** The size of an address, an offset and a size field in bytes: 4 or 8. */
    public int addressSize() {
        return addressSize;
    }

    /** Reads an unsigned word of this class's address size: 32 bits widened with zeros, or the raw 64. */
    public long readWord(ByteView view, long offset) {
        return switch (this) {
            case ELF32 -> view.u32(offset);
            case ELF64 -> view.s64(offset);
        };
    }

    /** Reads a signed word of this class's address size, such as an addend. */
    long readSignedWord(ByteView view, long offset) {
        return switch (this) {
            case ELF32 -> view.s32(offset);
            case ELF64 -> view.s64(offset);
        };
    }
}
