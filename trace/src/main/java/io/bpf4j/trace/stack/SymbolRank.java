package io.bpf4j.trace.stack;

import io.bpf4j.elf.Symbol;
import io.bpf4j.elf.SymbolTables.Table;
import io.bpf4j.trace.internal.demangle.Demangler;
import java.util.List;

/**
 * Decides which of several names of one function is shown, and its text.
 *
 * <p>The name that people use comes first: a symbol with a size before a label, an exported one before a static one,
 * and the table with the most names first.
 */
final class SymbolRank {
    private static final List<Table> TABLES = List.of(Table.values());

    private SymbolRank() {}

    /** The rank of a symbol; of two symbols for one address, the one with the higher rank is shown. */
    static int of(Table table, long size, int binding) {
        int visible = binding == Symbol.STB_LOCAL ? 0 : binding == Symbol.STB_WEAK ? 1 : 2;
        return ((size == 0 ? 0 : 4) + visible) * TABLES.size() + TABLES.indexOf(table);
    }

    /** Where a symbol of a rank was found. */
    static Frame.Source source(int rank) {
        return source(TABLES.get(rank % TABLES.size()));
    }

    static Frame.Source source(Table table) {
        return switch (table) {
            case DYNAMIC -> Frame.Source.DYNAMIC_SYMBOLS;
            case FULL -> Frame.Source.SYMBOLS;
            case MINI_DEBUG_INFO -> Frame.Source.MINI_DEBUG_INFO;
            case DEBUG_FILE -> Frame.Source.DEBUG_FILE;
        };
    }

    /**
     * The text of a symbol. In a full symbol table, the linker appends the version to the name: {@code
     * memcpy@@GLIBC_2.14}. A mangled symbol can be demangled only as a whole.
     */
    static String text(String name) {
        int at = name.indexOf('@', 1);
        String symbol = at < 0 ? name : name.substring(0, at);
        return Demangler.isMangled(symbol) ? symbol : Names.cut(symbol);
    }
}
