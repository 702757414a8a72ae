package io.bpf4j.loader.spec;

import io.bpf4j.btf.Btf;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Objects that no compiler writes. */
public final class ChangedObject {
    private ChangedObject() {}

    /** The programs of an object alone, with another license and other types; without line information. */
    public static ObjectSpec of(ObjectSpec spec, String license, Optional<Btf> types) {
        return new ObjectSpecData(
                spec.source(),
                spec.order(),
                license,
                spec.version(),
                spec.programs(),
                spec.functions(),
                List.of(),
                spec.structOps(),
                Map.of(),
                List.of(),
                types,
                Optional.empty());
    }
}
