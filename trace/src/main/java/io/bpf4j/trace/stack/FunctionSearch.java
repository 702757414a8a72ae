package io.bpf4j.trace.stack;

import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.elf.SymbolTables;
import io.bpf4j.elf.SymbolTables.Table;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Finds the functions that contain given addresses, in one pass over the symbols of a file. It keeps the symbols that
 * may contain an address, and reads the names of the functions that it found: memory depends on the number of
 * addresses, not on the size of the file. <i>Confined.</i>
 *
 * <p>The addresses divide the file: a symbol belongs to the first address at or after its start. For each address the
 * search keeps the symbols that belong to it and contain it, the innermost ones if they are many, and the symbol that
 * starts last. So the result for an address depends only on the symbols that belong to it and on those that contain the
 * address before it.
 *
 * <p>Tested by {@code FunctionSearchTest}.
 */
final class FunctionSearch implements SymbolTables.FunctionReader {
    /** The maximum number of functions kept that contain an address: functions may nest. */
    private static final int NESTED = 4;

    /** A function. */
    record Found(long start, String symbol, Frame.Source source) {}

    /** A symbol that may be the result. */
    private record Candidate(Table table, long index, long start, long size, int rank) {
        /** Whether it contains an address that is not before its start. */
        boolean contains(long address) {
            return Long.compareUnsigned(address - start, size) < 0;
        }

        boolean comesBefore(@Nullable Candidate other) {
            return other == null || start > other.start || (start == other.start && rank > other.rank);
        }
    }

    private final long[] addresses;
    private final SymbolBudget budget;
    private final @Nullable Candidate[][] containing;
    private final @Nullable Candidate[] last;
    private final Map<Long, Found> results = new HashMap<>();
    private boolean complete = true;
    private Optional<String> problem = Optional.empty();

    /** @param addresses not negative; memory grows with their number */
    FunctionSearch(long[] addresses, SymbolBudget budget) {
        this.addresses = Arrays.stream(addresses).sorted().distinct().toArray();
        this.budget = budget;
        this.containing = new Candidate[this.addresses.length][];
        this.last = new Candidate[this.addresses.length];
    }

    /** The functions by the addresses; none for an address outside of all functions. */
    Map<Long, Found> results() {
        return results;
    }

    /** Whether all symbols were read. If not, the results may be wrong. */
    boolean isComplete() {
        return complete;
    }

    /** Why some names could not be read; empty if all were. */
    Optional<String> problem() {
        return problem;
    }

    @Override
    public boolean wants(Table table, long symbols) {
        boolean wanted = budget.take(symbols);
        complete &= wanted;
        return wanted;
    }

    @Override
    public boolean read(Table table, long index, long address, long size, int binding) {
        int at = Arrays.binarySearch(addresses, address);
        int first = at < 0 ? -at - 1 : at;
        if (first == addresses.length) {
            return true;
        }
        Candidate latest = last[first];
        boolean contains = Long.compareUnsigned(addresses[first] - address, size) < 0;
        if (!contains && latest != null && latest.start > address) {
            return true;
        }
        Candidate candidate = new Candidate(table, index, address, size, SymbolRank.of(table, size, binding));
        if (candidate.comesBefore(latest)) {
            last[first] = candidate;
        }
        if (contains) {
            @Nullable Candidate[] own = containing[first];
            if (own == null) {
                own = new Candidate[NESTED];
                containing[first] = own;
            }
            insert(own, candidate);
        }
        return true;
    }

    /** Keeps the candidates sorted, one for each start. */
    private static void insert(@Nullable Candidate[] sorted, Candidate candidate) {
        Candidate moved = candidate;
        for (int i = 0; i < sorted.length; i++) {
            Candidate present = sorted[i];
            if (moved.comesBefore(present)) {
                sorted[i] = moved;
                if (present == null || present.start == moved.start) {
                    return;
                }
                moved = present;
            } else if (present != null && present.start == moved.start) {
                return;
            }
        }
    }

    @Override
    public void finish(SymbolTables.Names names) {
        if (!complete) {
            return;
        }
        Map<Candidate, Found> known = new HashMap<>();
        @Nullable Candidate[] enclosing = new Candidate[NESTED];
        Candidate latest = null;
        for (int i = 0; i < addresses.length; i++) {
            long address = addresses[i];
            @Nullable Candidate[] current = new Candidate[NESTED];
            for (Candidate outer : enclosing) {
                if (outer != null && outer.contains(address)) {
                    insert(current, outer);
                }
            }
            @Nullable Candidate[] own = containing[i];
            if (own != null) {
                for (Candidate inner : own) {
                    if (inner != null) {
                        insert(current, inner);
                    }
                }
            }
            enclosing = current;
            latest = last[i] == null ? latest : last[i];
            boolean unsized = latest != null && latest.size == 0 && address - latest.start < AddressTable.MAX_UNSIZED;
            Candidate best = unsized ? latest : current[0];
            Found found = best == null ? null : known.computeIfAbsent(best, one -> named(one, names));
            if (found != null && !found.symbol().isEmpty()) {
                results.put(address, found);
            }
        }
    }

    private Found named(Candidate candidate, SymbolTables.Names names) {
        String name = "";
        try {
            name = SymbolRank.text(names.of(candidate.table, candidate.index));
        } catch (MalformedDataException e) {
            problem = Optional.of(String.valueOf(e.getMessage()));
        }
        return new Found(candidate.start, name, SymbolRank.source(candidate.table));
    }
}
