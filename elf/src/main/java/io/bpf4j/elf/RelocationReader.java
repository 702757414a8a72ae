package io.bpf4j.elf;

import java.nio.ByteOrder;
import java.util.List;

/**
 * Reads relocation tables, SHT_REL and SHT_RELA.
 *
 * <p>An entry is an offset and an {@code info} word, each of the class's address size, and in SHT_RELA an addend. Info
 * holds the symbol's index above the type: 24 and 8 bits in ELF32, 32 and 32 in ELF64. Only little-endian 64-bit MIPS
 * stores the two halves as a 32-bit symbol index followed by four single bytes; read as a word, the type is above the
 * symbol with its bytes reversed.
 *
 * <p>Tested by {@code ElfFileTest} and {@code MalformedElfTest}.
 */
final class RelocationReader {
    private RelocationReader() {}

    static boolean isTable(Section section) {
        return section.type() == Section.SHT_REL || section.type() == Section.SHT_RELA;
    }

    /** Adds all entries of a table to {@code relocations}. */
    static void read(ElfHeader header, Section table, ByteView data, List<Relocation> relocations) {
        ElfClass elfClass = header.elfClass();
        int word = elfClass.addressSize();
        boolean addends = table.type() == Section.SHT_RELA;
        int minEntrySize = elfClass.relSize + (addends ? word : 0);
        long entrySize = table.entrySize();
        if (entrySize < minEntrySize) {
            throw data.malformed(
                    0,
                    "relocation table " + table.name() + " with entries of " + Long.toUnsignedString(entrySize)
                            + " bytes, less than " + minEntrySize);
        }
        if (data.size() % entrySize != 0) {
            throw data.malformed(
                    data.size() - data.size() % entrySize,
                    "relocation table " + table.name() + " of " + data.size()
                            + " bytes, which is not a multiple of its entry size " + entrySize);
        }
        boolean mips64Little = header.machine() == ElfHeader.EM_MIPS
                && elfClass == ElfClass.ELF64
                && header.order() == ByteOrder.LITTLE_ENDIAN;
        for (long at = 0; at < data.size(); at += entrySize) {
            long offset = elfClass.readWord(data, at);
            long info = elfClass.readWord(data, at + word);
            int symbol;
            int type;
            if (mips64Little) {
                symbol = (int) info;
                type = Integer.reverseBytes((int) (info >>> 32));
            } else if (elfClass == ElfClass.ELF64) {
                symbol = (int) (info >>> 32);
                type = (int) info;
            } else {
                symbol = (int) (info >>> 8);
                type = (int) (info & 0xff);
            }
            if (symbol < 0) {
                throw data.malformed(
                        at + word, "relocation with symbol " + Integer.toUnsignedString(symbol) + ", out of range");
            }
            long addend = addends ? elfClass.readSignedWord(data, at + 2L * word) : 0;
            relocations.add(new Relocation(offset, type, symbol, addend, addends));
        }
    }
}
