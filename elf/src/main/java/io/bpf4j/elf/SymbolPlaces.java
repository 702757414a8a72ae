package io.bpf4j.elf;

import java.util.stream.Stream;

/**
 * The places in which an ELF file's symbols are, read one after the other.
 *
 * <p>A file may have its symbols in several places, and a stripped one keeps few of them:
 *
 * <ol>
 *   <li>{@code .dynsym}: functions that other files link against; every shared library has it. Only this table has
 *       versions.
 *   <li>{@code .symtab}: all functions, also static ones; stripping removes it first.
 *   <li>{@code .gnu_debugdata}: a compressed ELF file with just the names that {@code .dynsym} lacks (Fedora).
 *   <li>a file of its own under /usr/lib/debug, found by build ID or debug link (Debian's -dbgsym packages).
 * </ol>
 *
 * The first two are always read, the others only if {@code .symtab} is missing: otherwise they add nothing. Addresses
 * in all four are those of the file itself.
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

    /**
     * Reads the symbols of all places, in the order above.
     *
     * @throws MalformedDataException if a place is broken; the symbols before it have been read
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
