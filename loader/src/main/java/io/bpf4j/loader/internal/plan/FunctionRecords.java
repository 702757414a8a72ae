package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.internal.call.ProgCommand.InfoTable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * The records of {@code .BTF.ext} for each function of an object: its type, its source lines, its CO-RE relocations.
 *
 * <p>The kernel gets types and lines as tables for the functions of a program, with their new slots. A table with gaps
 * is left out, because the kernel rejects it. Messages get the line of an instruction. <i>Confined.</i>
 *
 * <p>Tested by {@code BpfLoaderTest} and {@code VerifierRefusalTest}.
 */
public final class FunctionRecords {
    private final ObjectSpec spec;
    private final ByOffset<BtfExt.FuncInfo> functions;
    private final ByOffset<BtfExt.LineInfo> lines;
    private final ByOffset<BtfExt.CoreRelocation> relocations;

    /** The records of an object; empty if it has no such section. */
    public FunctionRecords(ObjectSpec spec) {
        this.spec = spec;
        this.functions = new ByOffset<>(spec, BtfExt::functions, BtfExt.FuncInfo::offset);
        this.lines = new ByOffset<>(spec, BtfExt::lines, BtfExt.LineInfo::offset);
        this.relocations = new ByOffset<>(spec, BtfExt::relocations, BtfExt.CoreRelocation::offset);
    }

    /** The relocations of a function, in the order of their slots; of a replaced body only those of its first slot. */
    List<BtfExt.CoreRelocation> relocations(FunctionSpec function) {
        return relocations.of(function);
    }

    /** The slot of a function at an offset in its section; the offset is in bytes. */
    static int slot(FunctionSpec function, long offset) {
        return (int) (offset / Instruction.SIZE - function.slot());
    }

    /** {@code struct bpf_func_info}: u32 slot, u32 type id; the kernel requires one for every function. */
    InfoTable functionTable(Map<FunctionSpec, Integer> slots) {
        ByteBuffer records = ByteBuffer.allocate(slots.size() * 8).order(spec.order());
        for (Map.Entry<FunctionSpec, Integer> start : slots.entrySet()) {
            FunctionSpec function = start.getKey();
            if (function.typeId() != 0) {
                records.putInt(start.getValue()).putInt(function.typeId());
                continue;
            }
            List<BtfExt.FuncInfo> info = functions.of(function);
            if (info.isEmpty() || slot(function, info.getFirst().offset()) != 0) {
                return InfoTable.NONE;
            }
            records.putInt(start.getValue()).putInt(info.getFirst().type());
        }
        return new InfoTable(records.array(), 8);
    }

    /** {@code struct bpf_line_info}: u32 slot, u32 file name, u32 text of the line, u32 line and column. */
    InfoTable lineTable(Map<FunctionSpec, Integer> slots) {
        int count = 0;
        for (FunctionSpec function : slots.keySet()) {
            count += lines.of(function).size();
        }
        ByteBuffer records = ByteBuffer.allocate(count * 16).order(spec.order());
        for (Map.Entry<FunctionSpec, Integer> start : slots.entrySet()) {
            FunctionSpec function = start.getKey();
            List<BtfExt.LineInfo> own = lines.of(function);
            // The kernel requires a line for the first instruction of every function, and one at most for each
            // (check_btf_line of kernel/bpf/verifier.c).
            if (own.isEmpty()
                    || own.size() > function.size()
                    || slot(function, own.getFirst().offset()) != 0) {
                return InfoTable.NONE;
            }
            for (BtfExt.LineInfo line : own) {
                records.putInt(start.getValue() + slot(function, line.offset()))
                        .putInt(line.file())
                        .putInt(line.text())
                        .putInt(line.position());
            }
        }
        return new InfoTable(records.array(), 16);
    }

    /**
     * The location of an instruction in an assembled program.
     *
     * @param slots of its functions
     * @return empty if no function is at that slot
     */
    public Optional<Finding.Location> at(NavigableMap<Integer, FunctionSpec> slots, int slot) {
        Map.Entry<Integer, FunctionSpec> in = slots.floorEntry(slot);
        return in == null ? Optional.empty() : Optional.of(at(in.getValue(), slot - in.getKey()));
    }

    /** Functions by the slot where they start. */
    public static NavigableMap<Integer, FunctionSpec> bySlot(Map<FunctionSpec, Integer> slots) {
        NavigableMap<Integer, FunctionSpec> bySlot = new TreeMap<>();
        slots.forEach((function, start) -> bySlot.put(start, function));
        return bySlot;
    }

    /** The location of an instruction in a function; without a source line if the object has none or a malformed one. */
    public Finding.Location at(FunctionSpec function, int slot) {
        List<BtfExt.LineInfo> own = lines.of(function);
        int next = lines.first(own, ((long) function.slot() + slot + 1) * Instruction.SIZE);
        return new Finding.Location(function.name(), slot, next == 0 ? "" : source(own.get(next - 1)));
    }

    private String source(BtfExt.LineInfo line) {
        Btf types = spec.btf().orElseThrow();
        try {
            return types.string(line.file()) + ":" + line.line() + ": "
                    + types.string(line.text()).strip();
        } catch (MalformedDataException e) {
            return "";
        }
    }

    /**
     * The records of one kind. The file has them by section, and an object may have thousands of functions in one; so
     * each section is sorted once and searched by offset.
     */
    private static final class ByOffset<T> {
        private final Optional<BtfExt.Table<T>> table;
        private final ToLongFunction<T> offset;
        private final Map<String, List<T>> sorted = new HashMap<>();

        ByOffset(ObjectSpec spec, Function<BtfExt, BtfExt.Table<T>> table, ToLongFunction<T> offset) {
            this.table = spec.btfExt().map(table);
            this.offset = offset;
        }

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

        /** Index of the first record at or after an offset. */
        int first(List<T> all, long from) {
            int low = 0;
            int high = all.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (offset.applyAsLong(all.get(middle)) < from) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }
}
