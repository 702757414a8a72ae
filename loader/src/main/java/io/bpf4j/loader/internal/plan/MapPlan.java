package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.KernelNames;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import org.jspecify.annotations.Nullable;

/**
 * A map that a load creates, opens by its pin, or reuses. <i>Immutable.</i>
 *
 * <p>Tested by {@code LoadPlanTest}.
 *
 * @param spec the definition, with the size for the kernel
 * @param kernelName its name in the kernel, at most 15 bytes
 * @param initial its bytes, for global data; null for other maps, and for all zeroes (a new map has them already)
 * @param frozen whether its value can't change after the load, so that the verifier treats it as a constant
 * @param inner the definition of the maps in it, for a map of maps
 * @param reused the map that is used in place of a new one; its owner closes it
 */
@SuppressWarnings("ArrayRecordComponent") // internal; read where the map is made
public record MapPlan(
        MapSpec spec,
        String kernelName,
        byte @Nullable [] initial,
        boolean frozen,
        @Nullable MapPlan inner,
        @Nullable BpfMap reused) {
    public String name() {
        return spec.name();
    }

    /**
     * A map to create.
     *
     * @param source what messages call the object
     * @param objectName path or name, the prefix of the names of global data maps
     * @param host null if the plan is not for the running kernel
     */
    public static MapPlan of(
            MapSpec spec, byte @Nullable [] initial, String source, String objectName, @Nullable Host host) {
        DataSection data = spec.data();
        MapSpec inner = spec.inner();
        String name = spec.isData() ? KernelNames.ofSection(objectName, spec.name()) : KernelNames.of(spec.name());
        int entries = maxEntries(spec, source, host);
        return new MapPlan(
                entries == spec.maxEntries() ? spec : spec.withMaxEntries(entries),
                name,
                initial,
                initial != null && data != null && data.readOnly(),
                inner == null ? null : of(inner, null, source, objectName, host),
                null);
    }

    /**
     * An existing map.
     *
     * @throws InvalidObjectException if the object can't use it
     */
    static MapPlan reuse(MapSpec wanted, BpfMap found, String source) {
        if (found.typeNumber() != wanted.typeNumber()
                || found.keySize() != wanted.keySize()
                || found.valueSize() != wanted.valueSize()) {
            throw new InvalidObjectException(source + ": map \"" + wanted.name() + "\" can't be replaced by \""
                    + found.name() + "\": type " + found.typeNumber() + ", key " + found.keySize() + " B, value "
                    + found.valueSize() + " B, where type " + wanted.typeNumber() + ", key " + wanted.keySize()
                    + " B, value " + wanted.valueSize() + " B are needed");
        }
        return new MapPlan(wanted, "", null, false, null, found);
    }

    /**
     * The size that the kernel requires: for a ring buffer a power of two of whole pages, for a perf event array one
     * entry for every CPU.
     */
    private static int maxEntries(MapSpec spec, String source, @Nullable Host host) {
        long entries = Integer.toUnsignedLong(spec.maxEntries());
        if (host != null && (spec.is(MapType.RINGBUF) || spec.is(MapType.USER_RINGBUF))) {
            if (entries == 0) {
                throw new InvalidObjectException(
                        source + ": ring buffer \"" + spec.name() + "\" has size 0; set its max_entries, in bytes");
            }
            long size = Math.max(host.pageSize(), Long.highestOneBit(entries));
            long rounded = size < entries ? size * 2 : size;
            if (rounded > 1L << 31) {
                throw new InvalidObjectException(source + ": ring buffer \"" + spec.name() + "\" of " + entries
                        + " bytes is larger than the 2 GiB that the kernel allows");
            }
            return (int) rounded;
        }
        if (host != null && spec.is(MapType.PERF_EVENT_ARRAY) && entries == 0) {
            return host.possibleCpus().count();
        }
        return (int) entries;
    }
}
