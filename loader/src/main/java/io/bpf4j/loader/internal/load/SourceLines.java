package io.bpf4j.loader.internal.load;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.MalformedDataException;
import io.bpf4j.loader.dryrun.Finding;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Where in the source an instruction comes from, by the line information of the object. <i>Confined.</i> */
final class SourceLines {
    private final ObjectSpec spec;
    private final RecordsByPlace<BtfExt.LineInfo> lines;

    SourceLines(ObjectSpec spec) {
        this.spec = spec;
        this.lines = new RecordsByPlace<>(
                section -> spec.btfExt().map(ext -> ext.lines().of(section)).orElse(List.of()),
                BtfExt.LineInfo::offset);
    }

    /**
     * The place of an instruction in an assembled program.
     *
     * @param places of its functions, in order
     * @return empty if there is no function
     */
    Optional<Finding.Place> at(Map<FunctionSpec, Integer> places, int slot) {
        FunctionSpec in = null;
        int start = 0;
        for (Map.Entry<FunctionSpec, Integer> place : places.entrySet()) {
            if (place.getValue() <= slot) {
                in = place.getKey();
                start = place.getValue();
            }
        }
        FunctionSpec function = in;
        int at = slot - start;
        return Optional.ofNullable(function).map(f -> at(f, at));
    }

    /** The place of an instruction in a function; without a source line if the object has none, or a broken one. */
    Finding.Place at(FunctionSpec function, int slot) {
        BtfExt.LineInfo last = null;
        for (BtfExt.LineInfo line : lines.of(function)) {
            if (lines.slot(function, line) <= slot) {
                last = line;
            }
        }
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
