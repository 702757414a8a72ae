package io.bpf4j.trace.stack;

import io.bpf4j.elf.SymbolTables;
import io.bpf4j.elf.SymbolTables.Table;
import io.bpf4j.elf.internal.text.CString;
import java.util.ArrayList;
import java.util.List;

/** Collects all functions of a file, if they are few. <i>Confined.</i> */
final class SmallTable implements SymbolTables.FunctionReader {
    /** More than a library has, and fewer than a browser. */
    private static final int MAX_FUNCTIONS = 1 << 16;

    /** Bytes of the names of one file. */
    private static final long MAX_NAMES = 1L << 22;

    private final SymbolBudget budget;
    private final List<Entry> entries = new ArrayList<>();
    private final AddressTable.Builder builder = new AddressTable.Builder(MAX_NAMES);
    private long nameBytes;
    private boolean complete = true;

    private record Entry(Table table, long index, long start, long size, int rank) {}

    SmallTable(SymbolBudget budget) {
        this.budget = budget;
    }

    /** Whether all functions had room. */
    boolean isComplete() {
        return complete;
    }

    AddressTable build() {
        return builder.build();
    }

    @Override
    public boolean wants(Table table, long symbols) {
        complete = complete && budget.take(symbols);
        return complete;
    }

    @Override
    public boolean read(Table table, long index, long address, long size, int binding) {
        complete = entries.size() < MAX_FUNCTIONS;
        if (complete) {
            entries.add(new Entry(table, index, address, size, SymbolRank.of(table, size, binding)));
        }
        return complete;
    }

    @Override
    public void finish(SymbolTables.Names names) {
        for (Entry entry : entries) {
            if (!complete) {
                return;
            }
            byte[] name = CString.encode(SymbolRank.text(names.of(entry.table, entry.index)));
            nameBytes += name.length + 1L;
            complete = nameBytes <= MAX_NAMES;
            builder.add(entry.start, entry.size, name, entry.rank);
        }
    }
}
