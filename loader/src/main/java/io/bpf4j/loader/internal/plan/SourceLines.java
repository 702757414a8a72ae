package io.bpf4j.loader.internal.plan;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** The source line of an instruction, from the line information of the object. <i>Confined.</i> */
public final class SourceLines {
    private final ObjectSpec spec;
    private final RecordsByPlace<BtfExt.LineInfo> lines;

    public SourceLines(ObjectSpec spec) {
        this.spec = spec;
        this.lines = new RecordsByPlace<>(spec, BtfExt::lines, BtfExt.LineInfo::offset);
    }

    /**
     * The place of an instruction in an assembled program.
     *
     * @param places of its functions
     * @return empty if no function is at that place
     */
    public Optional<Finding.Place> at(NavigableMap<Integer, FunctionSpec> places, int slot) {
        Map.Entry<Integer, FunctionSpec> in = places.floorEntry(slot);
        return in == null ? Optional.empty() : Optional.of(at(in.getValue(), slot - in.getKey()));
    }

    /** Functions by the slot where they start. */
    public static NavigableMap<Integer, FunctionSpec> bySlot(Map<FunctionSpec, Integer> places) {
        NavigableMap<Integer, FunctionSpec> bySlot = new TreeMap<>();
        places.forEach((function, start) -> bySlot.put(start, function));
        return bySlot;
    }

    /** The place of an instruction in a function; without a source line if the object has none or a malformed one. */
    public Finding.Place at(FunctionSpec function, int slot) {
        BtfExt.LineInfo last = lines.lastUpTo(function, slot);
        return new Finding.Place(function.name(), slot, last == null ? "" : source(last));
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
}
