package io.bpf4j.elf;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/**
 * The tables that may have an ELF file's symbols, read one after the other.
 *
 * <p>A file may have its symbols in several tables, and a stripped one keeps few of them:
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
public final class SymbolTables {
    private SymbolTables() {}

    /** The table of a symbol. */
    public enum Table {
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
        /** Receives one symbol; the same function may come from several tables. */
        void read(Table table, Symbol symbol);
    }

    /** Receives functions without their names, and reads afterwards the names that it needs. */
    public interface FunctionReader {
        /**
         * Whether to read a table.
         *
         * @param symbols the number of its entries
         */
        boolean wants(Table table, long symbols);

        /**
         * Receives one function that is defined in a section of the file.
         *
         * @param index of the symbol in its table
         * @param size in bytes; 0 if unknown
         * @param binding {@link Symbol#STB_GLOBAL} or another {@code STB_} constant
         * @return whether to go on with this table
         */
        boolean read(Table table, long index, long address, long size, int binding);

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
        String of(Table table, long index);
    }

    /**
     * Reads the functions of all tables, in the order above. A table of millions of symbols takes a fraction of a
     * second and hardly any memory, if only a few names are read.
     *
     * @throws MalformedDataException if a table is malformed; the reader has received the functions before it
     */
    public static void functions(ElfFile elf, DebugFiles debugFiles, FunctionReader reader) {
        Optional<ElfFile> debug = Optional.empty();
        try {
            Map<Table, SymbolTable> read = new EnumMap<>(Table.class);
            try {
                read(elf.dynamicTable(), Table.DYNAMIC, reader, read);
                if (hasFullTable(elf)) {
                    read(elf.mainTable(), Table.FULL, reader, read);
                } else {
                    Optional<ElfFile> mini = elf.miniDebugInfo(); // in memory
                    read(mini.flatMap(ElfFile::mainTable), Table.MINI_DEBUG_INFO, reader, read);
                    debug = debugFiles.open(elf);
                    read(
                            debug.filter(SymbolTables::hasFullTable).flatMap(ElfFile::mainTable),
                            Table.DEBUG_FILE,
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
            Optional<SymbolTable> found, Table table, FunctionReader reader, Map<Table, SymbolTable> read) {
        if (found.isPresent() && reader.wants(table, found.get().count())) {
            read.put(table, found.get());
            found.get().functions((index, address, size, binding) -> reader.read(table, index, address, size, binding));
        }
    }

    private static void finish(FunctionReader reader, Map<Table, SymbolTable> read) {
        Map<Table, LongFunction<String>> names = new EnumMap<>(Table.class);
        reader.finish((table, index) -> names.computeIfAbsent(
                        table,
                        one -> Objects.requireNonNull(read.get(one), "a table was read")
                                .symbolNames())
                .apply(index));
    }

    /**
     * Reads the symbols of all tables, in the order above.
     *
     * @throws MalformedDataException if a table is malformed; the reader has received the symbols before it
     */
    public static void read(ElfFile elf, DebugFiles debugFiles, Reader reader) {
        read(elf.dynamicSymbols(), Table.DYNAMIC, reader);
        if (hasFullTable(elf)) {
            read(elf.symbols(), Table.FULL, reader);
            return;
        }
        try (ElfFile mini = elf.miniDebugInfo().orElse(null)) {
            if (mini != null) {
                read(mini.symbols(), Table.MINI_DEBUG_INFO, reader);
            }
        }
        try (ElfFile debug = debugFiles.open(elf).orElse(null)) {
            if (debug != null && hasFullTable(debug)) {
                read(debug.symbols(), Table.DEBUG_FILE, reader);
            }
        }
    }

    /** Whether the file has all its symbols itself: it isn't stripped. */
    public static boolean hasFullTable(ElfFile elf) {
        return elf.section(".symtab").isPresent();
    }

    private static void read(Stream<Symbol> symbols, Table table, Reader reader) {
        symbols.forEach(symbol -> reader.read(table, symbol));
    }
}
