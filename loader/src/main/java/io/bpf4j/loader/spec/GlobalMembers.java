package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.MalformedDataException;
import java.util.ArrayList;
import java.util.List;

/**
 * The members of global variables that are structs, as variables whose names are paths: {@code config.kind}.
 *
 * <p>Tested by {@code ObjectSpecTest}.
 */
final class GlobalMembers {
    private GlobalMembers() {}

    /** All members of the struct that the path names before its last dot; empty if that is not a struct. */
    static List<GlobalSpec> beside(ObjectSpec object, String path) {
        int dot = path.lastIndexOf('.');
        return dot < 0
                ? List.of()
                : object.findGlobal(path.substring(0, dot))
                        .map(variable -> of(object, variable))
                        .orElse(List.of());
    }

    private static List<GlobalSpec> of(ObjectSpec object, GlobalSpec variable) {
        // An edit may have changed the size of the variable.
        if (object.declaredType(variable.typeId(), variable.size()).isEmpty()) {
            return List.of();
        }
        try {
            Btf types = object.btf().orElseThrow();
            List<GlobalSpec> members = new ArrayList<>();
            if (types.type(types.resolve(variable.typeId())) instanceof BtfType.Struct struct) {
                for (BtfType.Member member : struct.members()) {
                    long offset = member.bitOffset() / Byte.SIZE;
                    if (!member.isBitField() && offset + types.size(member.type()) <= variable.size()) {
                        members.add(new GlobalSpec(
                                variable.name() + "." + member.name(),
                                variable.map(),
                                variable.offset() + (int) offset,
                                (int) types.size(member.type()),
                                member.type(),
                                variable.variableId(),
                                variable.exported()));
                    }
                }
            }
            return members;
        } catch (MalformedDataException e) {
            return List.of(); // a member without a size
        }
    }
}
