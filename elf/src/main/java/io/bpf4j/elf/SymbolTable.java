package io.bpf4j.elf;

import io.bpf4j.elf.internal.text.CString;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.jspecify.annotations.Nullable;

/**
 * One symbol table, read entry by entry on demand. <i>Thread-safe.</i>
 *
 * <p>A symbol's section index has 16 bits. Of the reserved values from 0xff00 on, SHN_XINDEX (0xffff) means that the
 * true index is elsewhere: in a section of type SHT_SYMTAB_SHNDX that links to this table and holds one 32-bit number
 * per symbol. The other reserved values are sign-extended, see {@link Symbol}.
 *
 * <p>The table of a debug build has millions of entries, but a caller needs only one of them. So the first look-up of a
 * name builds a sorted index of 8 bytes per symbol: the hash of the name in the upper half, the symbol's index in the
 * lower half. It takes a fifth of the memory of a map of strings, and a search compares bytes of the file, not strings.
 *
 * <p>Tested by {@code ElfFileTest} and {@code ExtendedNumberingTest}.
 */
final class SymbolTable {
    private static final int SHN_LORESERVE = 0xff00;
    private static final int SHN_XINDEX = 0xffff;

    /** Bytes that are read at once. */
    private static final int CHUNK = 1 << 15;

    private final ElfClass elfClass;
    private final ByteView entries;
    private final long entrySize;
    private final long count;
    private final ByteView strings;
    /** From SHT_SYMTAB_SHNDX; null if that section does not exist. */
    private final @Nullable ByteView extendedIndices;

    private final ElfLimits limits;
    private volatile long @Nullable [] byName;

    SymbolTable(
            ElfClass elfClass,
            ByteView entries,
            long entrySize,
            ByteView strings,
            @Nullable ByteView extendedIndices,
            ElfLimits limits) {
        if (entrySize < elfClass.symbolSize) {
            throw entries.malformed(
                    0,
                    "symbol table with entries of " + Long.toUnsignedString(entrySize) + " bytes, less than "
                            + elfClass.symbolSize);
        }
        if (entries.size() % entrySize != 0) {
            throw entries.malformed(
                    entries.size() - entries.size() % entrySize,
                    "symbol table of " + entries.size() + " bytes, which is not a multiple of its entry size "
                            + entrySize);
        }
        if (entries.size() / entrySize > limits.maxSymbols()) {
            throw entries.malformed(
                    0,
                    entries.size() / entrySize + " symbols, more than the " + limits.maxSymbols()
                            + " accepted; raise ElfLimits");
        }
        this.elfClass = elfClass;
        this.entries = entries;
        this.entrySize = entrySize;
        this.count = entries.size() / entrySize;
        this.strings = strings;
        this.extendedIndices = extendedIndices;
        this.limits = limits;
    }

    private NameReader names() {
        return new NameReader(strings, count, limits);
    }

    private Symbol read(long index, NameReader names) {
        long at = index * entrySize;
        String name = names.name(entries.u32(at));
        return switch (elfClass) {
            case ELF32 -> symbol(index, name, entries.u32(at + 4), entries.u32(at + 8), at + 12, entries.u16(at + 14));
            case ELF64 -> symbol(index, name, entries.s64(at + 8), entries.s64(at + 16), at + 4, entries.u16(at + 6));
        };
    }

    private Symbol symbol(long index, String name, long value, long size, long infoAt, int section) {
        int info = entries.u8(infoAt);
        int visibility = entries.u8(infoAt + 1) & 3;
        return new Symbol(index, name, value, size, info & 0xf, info >>> 4, visibility, section(index, section));
    }

    private int section(long index, int field) {
        if (field < SHN_LORESERVE) {
            return field;
        }
        if (field != SHN_XINDEX) {
            return (short) field;
        }
        ByteView extended = extendedIndices;
        if (extended == null) {
            throw entries.malformed(
                    index * entrySize,
                    "symbol " + index + " has its section index in a SHT_SYMTAB_SHNDX section, which is missing");
        }
        int section = extended.s32(4 * index);
        if (section < 0) {
            throw extended.malformed(
                    4 * index,
                    "symbol " + index + " is in section " + Integer.toUnsignedString(section) + ", out of range");
        }
        return section;
    }

    Stream<Symbol> stream() {
        NameReader names = names();
        int traits = Spliterator.ORDERED | Spliterator.NONNULL | Spliterator.IMMUTABLE | Spliterator.DISTINCT;
        return StreamSupport.stream(
                new Spliterators.AbstractSpliterator<Symbol>(count, traits) {
                    private long next;

                    @Override
                    public boolean tryAdvance(Consumer<? super Symbol> action) {
                        if (next >= count) {
                            return false;
                        }
                        action.accept(read(next++, names));
                        return true;
                    }
                },
                false);
    }

    /** Receives the functions of a table. */
    interface FunctionReader {
        /** Receives one; returns whether to continue. */
        boolean read(long index, long address, long size, int binding);
    }

    long count() {
        return count;
    }

    /**
     * Reads the functions that are defined in a section, without their names: a table of millions takes a tenth of a
     * second, because no object is created per entry.
     */
    void functions(FunctionReader reader) {
        int perChunk = (int) Math.max(1, Math.min(count, CHUNK / Math.min(entrySize, CHUNK)));
        boolean wide = elfClass == ElfClass.ELF64;
        // An entry may be declared larger than it needs to be, up to any size.
        int used = (int) Math.min(entrySize, elfClass.symbolSize);
        byte[] chunk = new byte[perChunk == 1 ? used : (int) (perChunk * entrySize)];
        ByteView view = ByteView.of(entries.source(), chunk, entries.order());
        for (long first = 0; first < count; first += perChunk) {
            int inChunk = (int) Math.min(perChunk, count - first);
            entries.copy(first * entrySize, chunk, 0, perChunk == 1 ? used : (int) (inChunk * entrySize));
            for (int i = 0; i < inChunk; i++) {
                long at = perChunk == 1 ? 0 : i * entrySize;
                int info = view.u8(at + (wide ? 4 : 12));
                int type = info & 0xf;
                if (type != Symbol.STT_FUNC && type != Symbol.STT_GNU_IFUNC) {
                    continue;
                }
                int section = section(first + i, view.u16(at + (wide ? 6 : 14)));
                long address = wide ? view.s64(at + 8) : view.u32(at + 4);
                long size = wide ? view.s64(at + 16) : view.u32(at + 8);
                if (section > 0 && address != 0 && !reader.read(first + i, address, size, info >>> 4)) {
                    return;
                }
            }
        }
    }

    /** The names of symbols by their indices, within the limits of one walk over the table. */
    LongFunction<String> symbolNames() {
        NameReader names = names();
        return index -> names.name(entries.u32(index * entrySize));
    }

    /** All symbols with a name in the order of the table; none for an empty name. */
    List<Symbol> named(String name) {
        byte[] bytes = CString.encode(name);
        if (bytes.length == 0) {
            return List.of();
        }
        byte[] terminated = Arrays.copyOf(bytes, bytes.length + 1);
        long[] index = index();
        long key = (long) NameReader.hash(bytes, bytes.length) << 32;
        int from = Arrays.binarySearch(index, key);
        List<Symbol> found = new ArrayList<>();
        for (int i = from < 0 ? -from - 1 : from; i < index.length && (index[i] ^ key) >>> 32 == 0; i++) {
            long symbol = index[i] & 0xffff_ffffL;
            if (strings.matches(entries.u32(symbol * entrySize), terminated)) {
                found.add(read(symbol, names()));
            }
        }
        return List.copyOf(found);
    }

    private long[] index() {
        long[] index = byName;
        if (index == null) {
            synchronized (this) {
                index = byName;
                if (index == null) {
                    index = createIndex();
                    byName = index;
                }
            }
        }
        return index;
    }

    private long[] createIndex() {
        NameReader names = names();
        long[] index = new long[(int) count];
        for (int i = 0; i < count; i++) {
            index[i] = (long) names.hash(entries.u32(i * entrySize)) << 32 | i;
        }
        Arrays.sort(index);
        return index;
    }
}
