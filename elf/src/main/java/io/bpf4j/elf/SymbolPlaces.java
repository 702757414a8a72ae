package io.bpf4j.elf;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/**
 * The places where an ELF file's symbols may be stored, read one after the other.
 *
 * <p>A file may have its symbols in several places, and a stripped one keeps few of them:
 *
 * <ol>
 *   <li>{@code .dynsym}: functions that other files link against; every shared library has it. Only this table has
 *       versions.
 *   <li>{@code .symtab}: all functions, also static ones; stripping removes it first.
 *   <li>{@code .gnu_debugdata}: a compressed ELF file with just the names that {@code .dynsym} lacks (Fedora).
 *   <li>a separate file under /usr/lib/debug, found by build ID or debug link (Debian's -dbgsym packages).
 * </ol>
 *
 * The first two are always read, the others only if {@code .symtab} is missing: otherwise they contain nothing more.
 * Addresses in all four are those of the file itself.
 *
 * <p>Tested by {@code FunctionSitesTest}, {@code FunctionsOnKernelTest} and {@code SymbolizerTest}.
 */
public final class SymbolPlaces {
    private SymbolPlaces() {}

    /** Where a symbol was found. */
    public enum Place {
        /** The dynamic symbols of the file itself. */
        DYNAMIC,
        /** The full table of the file itself. */
        FULL,
        /** The compressed file inside the file. */
        MINI_DEBUG_INFO,
        /** The separate file with debug information. */
        DEBUG_FILE
    }

    /** Receives the symbols. */
    public interface Reader {
        /** Receives one symbol; the same function may come from several places. */
        void read(Place place, Symbol symbol);
    }

    /** Receives functions without their names, and reads afterwards the names that it needs. */
    public interface FunctionReader {
        /**
         * Whether to read a table.
         *
         * @param symbols the number of its entries
         */
        boolean wants(Place place, long symbols);

        /**
         * Receives one function that is defined in a section of the file.
         *
         * @param index of the symbol in the table of its place
         * @param size in bytes; 0 if unknown
         * @param binding {@link Symbol#STB_GLOBAL} or another {@code STB_} constant
         * @return whether to go on with this table
         */
        boolean read(Place place, long index, long address, long size, int binding);

        /** Called once, when all tables have been read as far as they can be. */
        void finish(Names names);
    }

    /** Names of symbols that were received; valid until the call that it was passed to returns. */
    public interface Names {
        /**
         * The name of a symbol, as stored in the table.
         *
         * @throws MalformedDataException if the name is outside the file
         */
        String of(Place place, long index);
    }

    /**
     * Reads the functions of all places, in the order above. A table of millions of symbols takes a fraction of a
     * second and hardly any memory, if only a few names are read.
     *
     * @throws MalformedDataException if a place is malformed; the reader has received the functions before it
     */
    public static void functions(ElfFile elf, DebugFiles debugFiles, FunctionReader reader) {
        Optional<ElfFile> debug = Optional.empty();
        try {
            Map<Place, SymbolTable> read = new EnumMap<>(Place.class);
            try {
                read(elf.dynamicTable(), Place.DYNAMIC, reader, read);
                if (hasFullTable(elf)) {
                    read(elf.mainTable(), Place.FULL, reader, read);
                } else {
                    Optional<ElfFile> mini = elf.miniDebugInfo(); // in memory
                    read(mini.flatMap(ElfFile::mainTable), Place.MINI_DEBUG_INFO, reader, read);
                    debug = debugFiles.open(elf);
                    read(
                            debug.filter(SymbolPlaces::hasFullTable).flatMap(ElfFile::mainTable),
                            Place.DEBUG_FILE,
                            reader,
                            read);
                }
            } finally {
                finish(reader, read);
            }
        } finally {
            debug.ifPresent(ElfFile::close);
        }
    }

    private static void read(
            Optional<SymbolTable> found, Place place, FunctionReader reader, Map<Place, SymbolTable> read) {
        if (found.isPresent() && reader.wants(place, found.get().count())) {
            read.put(place, found.get());
            found.get().functions((index, address, size, binding) -> reader.read(place, index, address, size, binding));
        }
    }

    private static void finish(FunctionReader reader, Map<Place, SymbolTable> read) {
        Map<Place, LongFunction<String>> names = new EnumMap<>(Place.class);
        reader.finish((place, index) -> names.computeIfAbsent(
                        place,
                        one -> Objects.requireNonNull(read.get(one), "a table was read")
                                .symbolNames())
                .apply(index));
    }

    /**
     * Reads the symbols of all places, in the order above.
     *
     * @throws MalformedDataException if a place is malformed; the reader has received the symbols before it
     */
    public static void read(ElfFile elf, DebugFiles debugFiles, Reader reader) {
        read(elf.dynamicSymbols(), Place.DYNAMIC, reader);
        if (hasFullTable(elf)) {
            read(elf.symbols(), Place.FULL, reader);
            return;
        }
        try (ElfFile mini = elf.miniDebugInfo().orElse(null)) {
            if (mini != null) {
                read(mini.symbols(), Place.MINI_DEBUG_INFO, reader);
            }
        }
        try (ElfFile debug = debugFiles.open(elf).orElse(null)) {
            if (debug != null && hasFullTable(debug)) {
                read(debug.symbols(), Place.DEBUG_FILE, reader);
            }
        }
    }

    /** Whether the file has all its symbols itself: it isn't stripped. */
    public static boolean hasFullTable(ElfFile elf) {
        return elf.section(".symtab").isPresent();
    }

    private static void read(Stream<Symbol> symbols, Place place, Reader reader) {
        symbols.forEach(symbol -> reader.read(place, symbol));
    }
}
