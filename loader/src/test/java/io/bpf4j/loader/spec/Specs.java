package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.insn.Instruction;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Specifications that no file was read for. */
public final class Specs {
    private Specs() {}

    /** An object of programs and functions, without maps. */
    public static ObjectSpec object(
            ByteOrder order, List<ProgramSpec> programs, List<FunctionSpec> functions, Optional<Btf> types) {
        return object("test.o", order, programs, functions, List.of(), List.of(), types);
    }

    public static ObjectSpec object(
            String name,
            ByteOrder order,
            List<ProgramSpec> programs,
            List<FunctionSpec> functions,
            List<MapSpec> maps,
            List<ExternSpec> externs,
            Optional<Btf> types) {
        return new ObjectSpecData(
                name,
                order,
                "GPL",
                0,
                programs,
                functions,
                maps,
                List.of(),
                Map.of(),
                externs,
                types,
                Optional.empty());
    }

    public static FunctionSpec function(
            String name,
            int section,
            String sectionName,
            int slot,
            boolean hidden,
            List<Instruction> instructions,
            CodeReference... references) {
        return new FunctionSpecData(
                name, section, sectionName, slot, hidden, false, instructions, List.of(references), 0);
    }

    public static ExternSpec extern(ExternSpec.Kind kind, String name, boolean weak, int typeId, int size) {
        return new ExternSpec(kind, name, weak, typeId, 0, size);
    }

    /** A section of zeroes. */
    public static DataSection section(String name, int index, int size, boolean readOnly, GlobalSpec... variables) {
        return new DataSection(name, index, new byte[0], size, readOnly, List.of(variables));
    }

    public static GlobalSpec variable(String name, String map, int offset, int size, int typeId, int variableId) {
        return new GlobalSpec(name, map, offset, size, typeId, variableId, true);
    }

    public static MapSpec map(DataSection data, int valueTypeId) {
        return new MapSpecData(data.name(), 2, 4, data.size(), 1, 0, 0, valueTypeId, Optional.of(data));
    }

    /** A variable that is created and attached by a link. */
    public static StructOpsSpec structOps(
            String name,
            String type,
            int typeId,
            ByteOrder order,
            byte[] content,
            List<StructOpsSpec.Member> members,
            Map<String, String> functions) {
        return new StructOpsSpecData(
                name, StructOpsSpecData.LINKED, true, true, type, typeId, order, content, members, functions, Set.of());
    }
}
