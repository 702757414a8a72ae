package io.bpf4j.elf;

/**
 * A section header. <i>Immutable</i>; its bytes are read by {@link ElfFile#data(Section)}.
 *
 * @param index place in the section table, from 0; section 0 is always an empty one
 * @param name such as {@code .text}; several sections may share one, and it may be empty
 * @param type {@link #SHT_PROGBITS} or another {@code SHT_} constant, or any other number
 * @param flags set of {@link #SHF_ALLOC} and other {@code SHF_} constants
 * @param address virtual address when loaded, 0 if it isn't loaded
 * @param offset where its bytes start, from the start of the ELF
 * @param size size in bytes; for {@link #SHT_NOBITS} the size in memory, because the file holds no bytes
 * @param link index of a section that this one needs, by type: a symbol table's strings, a relocation table's symbols
 * @param info additional number, by type: a relocation table's target section, a symbol table's first global symbol
 * @param alignment of the address in bytes, a power of two; 0 and 1 mean none
 * @param entrySize bytes per entry of a table; 0 if the section isn't a table
 */
public record Section(
        int index,
        String name,
        int type,
        long flags,
        long address,
        long offset,
        long size,
        int link,
        int info,
        long alignment,
        long entrySize) {
    public static final int SHT_NULL = 0;
    public static final int SHT_PROGBITS = 1;
    public static final int SHT_SYMTAB = 2;
    public static final int SHT_STRTAB = 3;
    public static final int SHT_RELA = 4;
    public static final int SHT_NOTE = 7;
    public static final int SHT_NOBITS = 8;
    public static final int SHT_REL = 9;
    public static final int SHT_DYNSYM = 11;
    public static final int SHT_SYMTAB_SHNDX = 18;

    public static final long SHF_ALLOC = 0x2;
    public static final long SHF_EXECINSTR = 0x4;
    public static final long SHF_INFO_LINK = 0x40;
    public static final long SHF_COMPRESSED = 0x800;

    /** Whether all the given flags are set. */
    public boolean has(long wanted) {
        return (flags & wanted) == wanted;
    }

    /** Whether it holds machine code: {@link #SHF_EXECINSTR}. */
    public boolean isExecutable() {
        return has(SHF_EXECINSTR);
    }
}
