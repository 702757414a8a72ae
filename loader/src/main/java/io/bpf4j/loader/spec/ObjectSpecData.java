package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.ElfLimits;
import io.bpf4j.loader.error.UnknownNameException;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The only implementation of {@link ObjectSpec}. */
record ObjectSpecData(
        String source,
        ByteOrder order,
        String license,
        int version,
        List<ProgramSpec> programs,
        List<FunctionSpec> functions,
        List<MapSpec> maps,
        List<StructOpsSpec> structOps,
        Map<String, InitialValue> values,
        List<ExternSpec> externs,
        Optional<Btf> btf,
        Optional<BtfExt> btfExt)
        implements ObjectSpec {
    /** Larger files are refused; BPF objects are much smaller. */
    static final int MAX_BYTES = 64 << 20;

    /** Symbol names are short, and the loader reads no compressed sections. */
    static final ElfLimits LIMITS = new ElfLimits(
            4096, ElfLimits.defaults().maxSections(), ElfLimits.defaults().maxSymbols(), 0);

    ObjectSpecData {
        programs = List.copyOf(programs);
        functions = List.copyOf(functions);
        maps = List.copyOf(maps);
        structOps = List.copyOf(structOps);
        values = Map.copyOf(values);
        externs = List.copyOf(externs);
    }

    @Override
    public Set<String> changedGlobals() {
        return values.keySet();
    }

    @Override
    public byte[] initialValue(String global) {
        InitialValue value = values.get(global);
        if (value == null) {
            throw new UnknownNameException("changed value of global variable", global, source, values.keySet());
        }
        return value.encode(this, global(global));
    }

    @Override
    public String toString() {
        return source + ": " + programs.size() + " programs, " + maps.size() + " maps";
    }
}
