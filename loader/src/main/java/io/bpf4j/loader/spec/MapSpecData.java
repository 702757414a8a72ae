package io.bpf4j.loader.spec;

import java.util.List;
import java.util.Optional;

/** The only implementation of {@link MapSpec}. */
record MapSpecData(
        String name,
        int typeNumber,
        int keySize,
        int valueSize,
        int maxEntries,
        int flags,
        int numaNode,
        long extra,
        int keyTypeId,
        int valueTypeId,
        boolean pinByName,
        boolean autocreate,
        int ifindex,
        Optional<MapSpec> inner,
        List<MapSpec.Slot> slots,
        Optional<DataSection> data,
        List<MapSpec.Element> contents,
        Optional<String> exclusiveProgram)
        implements MapSpec {
    MapSpecData {
        slots = List.copyOf(slots);
        contents = List.copyOf(contents);
    }

    /** A map without the rarer properties. */
    MapSpecData(
            String name,
            int typeNumber,
            int keySize,
            int valueSize,
            int maxEntries,
            int flags,
            int keyTypeId,
            int valueTypeId,
            Optional<DataSection> data) {
        this(
                name,
                typeNumber,
                keySize,
                valueSize,
                maxEntries,
                flags,
                0,
                0,
                keyTypeId,
                valueTypeId,
                false,
                true,
                0,
                Optional.empty(),
                List.of(),
                data,
                List.of(),
                Optional.empty());
    }
}
