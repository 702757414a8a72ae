package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.BtfExt;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The records of {@code .BTF.ext} that belong to a function. The table has them by section, and an object may have
 * thousands of functions in one; so each section is sorted once and searched by place. <i>Confined.</i>
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code VerifierRefusalTest}.
 */
final class RecordsByPlace<T> {
    private final Optional<BtfExt.Table<T>> table;
    private final ToLongFunction<T> offset;
    private final Map<String, List<T>> sorted = new HashMap<>();

    /**
     * Of an object; none if it has no such table.
     *
     * @param offset a record's place in its section, in bytes
     */
    RecordsByPlace(ObjectSpec spec, Function<BtfExt, BtfExt.Table<T>> table, ToLongFunction<T> offset) {
        this.table = spec.btfExt().map(table);
        this.offset = offset;
    }

    /** The records of a function, in the order of their places; of a replaced body only those of its first instruction. */
    List<T> of(FunctionSpec function) {
        List<T> all = sorted.computeIfAbsent(function.sectionName(), section -> {
            List<T> records = new ArrayList<>(table.map(t -> t.of(section)).orElse(List.of()));
            records.sort(Comparator.comparingLong(offset));
            return records;
        });
        long start = (long) function.slot() * Instruction.SIZE;
        long slots = function.replaced() ? 1 : function.size();
        return all.subList(first(all, start), first(all, start + slots * Instruction.SIZE));
    }

    /** The last record at or before a slot of a function; null if there is none. */
    @Nullable
    T lastUpTo(FunctionSpec function, int slot) {
        List<T> own = of(function);
        int next = first(own, ((long) function.slot() + slot + 1) * Instruction.SIZE);
        return next == 0 ? null : own.get(next - 1);
    }

    /** The slot in the function that a record belongs to. */
    int slot(FunctionSpec function, T record) {
        return (int) (offset.applyAsLong(record) / Instruction.SIZE - function.slot());
    }

    /** Index of the first record at or after a place. */
    private int first(List<T> all, long place) {
        int low = 0;
        int high = all.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (offset.applyAsLong(all.get(middle)) < place) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
