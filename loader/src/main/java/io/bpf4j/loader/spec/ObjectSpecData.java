package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfExt;
import io.bpf4j.elf.ElfLimits;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;

/** The one implementation of {@link ObjectSpec}. */
record ObjectSpecData(
        String source,
        ByteOrder order,
        String license,
        int version,
        List<ProgramSpec> programs,
        List<FunctionSpec> functions,
        List<MapSpec> maps,
        List<StructOpsSpec> structOps,
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
        externs = List.copyOf(externs);
    }

    @Override
    public String toString() {
        return source + ": " + programs.size() + " programs, " + maps.size() + " maps";
    }
}
