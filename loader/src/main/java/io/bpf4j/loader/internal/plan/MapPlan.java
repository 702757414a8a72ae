package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.KernelNames;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import org.jspecify.annotations.Nullable;

/**
 * A map that a load creates, opens by its pin, or reuses. <i>Immutable.</i>
 *
 * <p>Tested by {@code LoadPlanTest}.
 *
 * @param spec the definition, with the flags and size for the kernel
 * @param kernelName its name in the kernel, at most 15 bytes; empty if the kernel does not support names
 * @param initial its bytes, for global data; null for other maps, and for all zeroes (a new map has them already)
 * @param frozen whether its value can't change after the load, so that the verifier treats it as a constant
 * @param inner the definition of the maps in it, for a map of maps
 * @param reused the map that is used in place of a new one; its owner closes it
 * @param programHash of the only program that may use it; null for any program
 */
@SuppressWarnings("ArrayRecordComponent") // internal; read where the map is created
public record MapPlan(
        MapSpec spec,
        String kernelName,
        byte @Nullable [] initial,
        boolean frozen,
        @Nullable MapPlan inner,
        @Nullable BpfMap reused,
        byte @Nullable [] programHash) {
    public String name() {
        return spec.name();
    }

    /** A map that belongs to no object. */
    public static MapPlan standalone(MapSpec spec, Features features, Host host) {
        return of(spec, null, "map " + spec.name(), spec.name(), new TargetKernel(host, features));
    }

    /**
     * A map to create.
     *
     * @param source the object's name in messages
     * @param objectName path or name, the prefix of the names of global data maps
     */
    static MapPlan of(MapSpec spec, byte @Nullable [] initial, String source, String objectName, TargetKernel kernel) {
        return of(spec, "", initial, source, objectName, kernel);
    }

    /** @param advice another remedy for a map without a size, as the end of a sentence */
    private static MapPlan of(
            MapSpec spec,
            String advice,
            byte @Nullable [] initial,
            String source,
            String objectName,
            TargetKernel kernel) {
        Features features = kernel.features();
        boolean readOnly = spec.data().filter(DataSection::readOnly).isPresent();
        String name = spec.isData() ? KernelNames.ofSection(objectName, spec.name()) : KernelNames.of(spec.name());
        int flags = flags(spec, features);
        int entries = maxEntries(spec, advice, source, kernel.host());
        boolean unchanged = flags == spec.flags() && entries == spec.maxEntries();
        return new MapPlan(
                unchanged ? spec : spec.withFlags(flags).withMaxEntries(entries),
                features.lacks(Feature.OBJECT_NAMES) ? "" : name,
                initial,
                initial != null && readOnly && !features.lacks(Feature.MAP_FREEZE),
                spec.inner()
                        .map(inner -> of(
                                inner,
                                ", or give \"" + spec.name() + "\" another definition by MapSpec.withInner",
                                null,
                                source,
                                objectName,
                                kernel))
                        .orElse(null),
                null,
                null);
    }

    /**
     * An existing map.
     *
     * @throws InvalidObjectException if the object can't use it
     */
    static MapPlan reuse(MapSpec defined, BpfMap found, String source) {
        if (found.typeNumber() != defined.typeNumber()
                || found.keySize() != defined.keySize()
                || found.valueSize() != defined.valueSize()) {
            throw new InvalidObjectException(source + ": map \"" + defined.name() + "\" can't be replaced by \""
                    + found.name() + "\", which has type " + found.typeNumber() + ", key " + found.keySize()
                    + " B, value " + found.valueSize() + " B instead of type " + defined.typeNumber() + ", key "
                    + defined.keySize() + " B, value " + defined.valueSize() + " B");
        }
        return new MapPlan(defined, "", null, false, null, found, null);
    }

    /** The same map, for the program with this hash alone. */
    MapPlan forProgram(byte[] hash) {
        return new MapPlan(spec, kernelName, initial, frozen, inner, reused, hash);
    }

    private static int flags(MapSpec spec, Features features) {
        return spec.isData() && features.lacks(Feature.MMAPABLE_ARRAY)
                ? spec.flags() & ~MapSpec.F_MMAPABLE
                : spec.flags();
    }

    /**
     * The size that the kernel requires: for a ring buffer a power of two of whole pages, for a perf event array one
     * entry for every CPU.
     */
    private static int maxEntries(MapSpec spec, String advice, String source, @Nullable Host host) {
        long entries = Integer.toUnsignedLong(spec.maxEntries());
        if (host != null && (spec.is(MapType.RINGBUF) || spec.is(MapType.USER_RINGBUF))) {
            if (entries == 0) {
                throw new InvalidObjectException(source + ": ring buffer \"" + spec.name()
                        + "\" has size 0; set its max_entries, in bytes" + advice);
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
            return CpuSet.possible(host).count();
        }
        return (int) entries;
    }
}
