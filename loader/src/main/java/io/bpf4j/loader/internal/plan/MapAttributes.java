package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.internal.call.MapTraits;
import io.bpf4j.sys.internal.call.MapTraits.Trait;
import java.util.Optional;

/**
 * Map definitions that every kernel refuses, by the table of {@link MapTraits}. They are known without a kernel, and
 * explain the EINVAL of one.
 *
 * <p>Tested by {@code MapAttributesTest}.
 */
public final class MapAttributes {
    /** Pages of 4 KiB in 4 GiB. Larger pages allow fewer. */
    private static final long MAX_PAGES = 1L << 20;

    private static final long MAX_RING_BYTES = 1L << 31;

    private MapAttributes() {}

    /**
     * Why every kernel refuses to create this map, as the end of a sentence about it; empty if some kernel may create
     * it.
     *
     * @param spec a definition whose entries were already rounded or filled in
     */
    public static Optional<String> refusal(MapSpec spec) {
        return spec.type()
                .map(MapTraits::of)
                .flatMap(row -> entries(spec, row.entries())
                        .or(() -> inner(spec, row))
                        .or(() -> size("key", row.keys(), spec.keySize()))
                        .or(() -> size("value", row.values(), spec.valueSize()))
                        .or(() -> flags(spec, row))
                        .or(() -> types(spec, row)));
    }

    private static Optional<String> entries(MapSpec spec, MapTraits.Entries allowed) {
        long entries = Integer.toUnsignedLong(spec.maxEntries());
        return switch (allowed) {
            case NO ->
                because(
                        entries != 0,
                        "has max_entries " + entries + ", but a " + spec.type().orElseThrow()
                                + " map takes 0: its values are attached to objects of the kernel");
            case OPTIONAL -> Optional.empty();
            case BYTES ->
                because(entries == 0, "has size 0; set its max_entries, in bytes")
                        .or(() -> because(
                                entries > MAX_RING_BYTES,
                                "has " + entries + " bytes, more than the 2 GiB that kernels allow"));
            case PAGES ->
                because(entries == 0, "has no pages; set its max_entries, in pages")
                        .or(() -> because(
                                entries > MAX_PAGES,
                                "has " + entries + " pages, more than the 4 GiB that kernels allow"));
            case SOME ->
                because(
                        entries == 0,
                        "has max_entries 0: set it in the object or by BpfLoader.map(\"" + spec.name()
                                + "\", map -> map.withMaxEntries(n))");
        };
    }

    private static Optional<String> because(boolean refused, String reason) {
        return refused ? Optional.of(reason) : Optional.empty();
    }

    private static Optional<String> size(String part, MapTraits.Sizes allowed, int size) {
        return because(
                !allowed.allows(size),
                "has a " + part + " of " + Integer.toUnsignedString(size) + " bytes, but maps of its type take "
                        + allowed);
    }

    private static Optional<String> flags(MapSpec spec, MapTraits row) {
        int missing = row.flags() & ~spec.flags();
        return because(
                        missing != 0,
                        "lacks " + (missing == MapSpec.F_MMAPABLE ? "BPF_F_MMAPABLE" : "BPF_F_NO_PREALLOC")
                                + " in its map_flags, which maps of its type require")
                .or(() -> because(
                        row.has(Trait.PREALLOC) && (spec.flags() & MapSpec.F_NO_PREALLOC) != 0,
                        "has BPF_F_NO_PREALLOC in its map_flags, which maps of its type can't have"));
    }

    private static Optional<String> types(MapSpec spec, MapTraits row) {
        return because(
                row.has(Trait.NEEDS_BTF) && (spec.keyTypeId() == 0 || spec.valueTypeId() == 0),
                "lacks the types of its keys and values (__type), which maps of its type require");
    }

    private static Optional<String> inner(MapSpec spec, MapTraits row) {
        if (!row.has(Trait.HOLDS_MAPS)) {
            return Optional.empty();
        }
        return spec.inner()
                .map(inner -> refusal(inner).map(problem -> "defines inner maps by a map that " + problem))
                .orElse(Optional.of("does not define its inner maps (MapSpec.withInner)"));
    }
}
