package io.bpf4j.elf;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds the dynamic symbols of a file without section headers, like the dynamic linker: through the segment PT_DYNAMIC,
 * a list of (tag, value) pairs of which DT_SYMTAB and DT_STRTAB are virtual addresses.
 *
 * <p>The segment does not store the number of symbols, because the linker does not need it. The hash tables give the
 * number:
 *
 * <ul>
 *   <li>DT_HASH has the number in its second word, nchain: one chain entry per symbol. Words have 32 bits, but 64 on
 *       64-bit s390 and Alpha.
 *   <li>DT_GNU_HASH has one bucket per hash value with the index of that chain's first symbol. The last chain is the
 *       chain with the highest start, and its last symbol is the first symbol with an odd hash. Symbols below {@code
 *       symoffset} are not hashed, but counted.
 * </ul>
 *
 * Without both tables, the usual layout of linkers is assumed: the strings directly follow the symbols.
 *
 * <p>Tested by {@code NoSectionHeadersTest}.
 */
final class DynamicSymbols {
    private static final long DT_NULL = 0;
    private static final long DT_HASH = 4;
    private static final long DT_STRTAB = 5;
    private static final long DT_SYMTAB = 6;
    private static final long DT_STRSZ = 10;
    private static final long DT_SYMENT = 11;
    private static final long DT_GNU_HASH = 0x6ffffef5L;

    private final ElfFile elf;
    private final ElfClass elfClass;
    private final Map<Long, Long> tags = new HashMap<>();

    private DynamicSymbols(ElfFile elf) {
        this.elf = elf;
        this.elfClass = elf.header().elfClass();
    }

    /** The table; empty if the file isn't dynamically linked. */
    static Optional<SymbolTable> find(ElfFile elf, ElfLimits limits) {
        Optional<Segment> dynamic = elf.segments().stream()
                .filter(segment -> segment.type() == Segment.PT_DYNAMIC)
                .findFirst();
        if (dynamic.isEmpty()) {
            return Optional.empty();
        }
        return new DynamicSymbols(elf).find(elf.data(dynamic.get()), limits);
    }

    private Optional<SymbolTable> find(ByteView dynamic, ElfLimits limits) {
        int word = elfClass.addressSize();
        for (long at = 0; at <= dynamic.size() - 2L * word; at += 2L * word) {
            long tag = elfClass.readWord(dynamic, at);
            if (tag == DT_NULL) {
                break;
            }
            tags.putIfAbsent(tag, elfClass.readWord(dynamic, at + word));
        }
        if (!tags.containsKey(DT_SYMTAB) || !tags.containsKey(DT_STRTAB) || !tags.containsKey(DT_STRSZ)) {
            return Optional.empty();
        }
        ByteView symbols = at(dynamic, DT_SYMTAB);
        ByteView strings = at(dynamic, DT_STRTAB).slice(0, value(DT_STRSZ));
        long entrySize = tags.containsKey(DT_SYMENT) ? value(DT_SYMENT) : elfClass.symbolSize;
        if (entrySize < elfClass.symbolSize || entrySize > symbols.size()) {
            throw dynamic.malformed(0, "dynamic symbols of " + Long.toUnsignedString(entrySize) + " bytes each");
        }
        long count = count(dynamic, entrySize);
        if (count < 0 || count > symbols.size() / entrySize) {
            throw symbols.malformed(
                    0, Long.toUnsignedString(count) + " dynamic symbols of " + entrySize + " bytes don't fit the file");
        }
        return Optional.of(
                new SymbolTable(elfClass, symbols.slice(0, count * entrySize), entrySize, strings, null, limits));
    }

    private long value(long tag) {
        return tags.getOrDefault(tag, 0L);
    }

    /** The file's bytes from the virtual address in a tag. */
    private ByteView at(ByteView dynamic, long tag) {
        OptionalLong offset = elf.fileOffset(value(tag));
        if (offset.isEmpty()) {
            throw dynamic.malformed(
                    0,
                    "dynamic tag " + tag + " has the address 0x" + Long.toHexString(value(tag))
                            + ", which no segment loads from the file");
        }
        return elf.bytes().slice(offset.getAsLong());
    }

    private long count(ByteView dynamic, long entrySize) {
        if (tags.containsKey(DT_HASH)) {
            int machine = elf.header().machine();
            boolean wide =
                    elfClass == ElfClass.ELF64 && (machine == ElfHeader.EM_S390 || machine == ElfHeader.EM_ALPHA);
            ByteView hash = at(dynamic, DT_HASH);
            return wide ? hash.s64(8) : hash.u32(4);
        }
        if (tags.containsKey(DT_GNU_HASH)) {
            return countByGnuHash(at(dynamic, DT_GNU_HASH));
        }
        long symbols = value(DT_SYMTAB);
        long strings = value(DT_STRTAB);
        return Long.compareUnsigned(strings, symbols) > 0 ? Long.divideUnsigned(strings - symbols, entrySize) : 0;
    }

    private long countByGnuHash(ByteView hash) {
        long bucketCount = hash.u32(0);
        long firstHashed = hash.u32(4);
        long buckets = 16 + hash.u32(8) * elfClass.addressSize();
        long chains = buckets + 4 * bucketCount;
        long last = 0;
        for (long i = 0; i < bucketCount; i++) {
            last = Math.max(last, hash.u32(buckets + 4 * i));
        }
        if (last < firstHashed) {
            return firstHashed; // all buckets are empty
        }
        while ((hash.u32(chains + 4 * (last - firstHashed)) & 1) == 0) {
            last++;
        }
        return last + 1;
    }
}
