package io.bpf4j.loader.spec;

import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The only implementation of {@link StructOpsSpec}. */
@SuppressWarnings("ArrayRecordComponent") // never compared; copied by the accessor
record StructOpsSpecData(
        String name,
        String sectionName,
        boolean autocreate,
        boolean autoattach,
        String type,
        int typeId,
        ByteOrder order,
        byte[] content,
        List<StructOpsSpec.Member> members,
        Map<String, String> functions,
        Set<String> removedPrograms)
        implements StructOpsSpec {
    /** A section whose variables are attached by a link (Linux 6.4). */
    static final String LINKED = ".struct_ops.link";

    /** A section whose variables are in use once their map gets its value. */
    static final String DIRECT = ".struct_ops";

    StructOpsSpecData {
        content = content.clone();
        members = List.copyOf(members);
        functions = Collections.unmodifiableMap(new LinkedHashMap<>(functions));
        removedPrograms = Set.copyOf(removedPrograms);
    }

    @Override
    public byte[] content() {
        return content.clone();
    }

    @Override
    public String toString() {
        return "struct " + type + " " + name + ", " + functions.size() + " functions";
    }
}
