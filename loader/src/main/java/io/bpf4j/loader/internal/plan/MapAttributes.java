package io.bpf4j.loader.internal.plan;

import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.kernel.MapType;
import java.util.Optional;

/**
 * Map definitions that every kernel refuses. They are known without a kernel, and explain the EINVAL of one.
 *
 * <p>Only rules that hold for all kernels that have the type are here; a rule of some kernels, such as the largest
 * value, is reported by these kernels. The source of each is the function {@code …_alloc_check} or {@code …_alloc} of
 * the type in kernel/bpf and net.
 *
 * <p>Tested by {@code MapAttributesTest}.
 */
public final class MapAttributes {
    /** Pages of 4 KiB in 4 GiB. Larger pages allow fewer. */
    private static final long MAX_PAGES = 1L << 20;

    private static final long MAX_RING_BYTES = 1L << 31;

    private MapAttributes() {}

    /** The sizes in bytes that a key or a value may have; {@link #NONE} for maps without keys, or values. */
    private record Sizes(long min, long max, long multiple) {
        static final Sizes ANY = atLeast(1);
        static final Sizes NONE = between(0, 0);
        static final Sizes NUMBER = between(4, 4);

        /** A number, or a number and a program; or the cookie of a socket. */
        static final Sizes NUMBER_OR_LONG = new Sizes(4, 8, 4);

        static Sizes atLeast(long bytes) {
            return between(bytes, 0xffff_ffffL);
        }

        static Sizes between(long min, long max) {
            return new Sizes(min, max, 1);
        }

        boolean allows(int size) {
            long bytes = Integer.toUnsignedLong(size);
            return min <= bytes && bytes <= max && bytes % multiple == 0;
        }

        @Override
        public String toString() {
            if (max == 0) {
                return "none";
            }
            String unit = multiple == 1 ? "" : " in multiples of " + multiple;
            if (min == max) {
                return min + " bytes";
            }
            return max == 0xffff_ffffL ? min + " bytes or more" + unit : min + " to " + max + " bytes" + unit;
        }
    }

    /**
     * Why every kernel refuses to create this map, as the end of a sentence about it; empty if some kernel may create
     * it.
     *
     * @param spec a definition whose entries were already rounded or filled in
     */
    public static Optional<String> refusal(MapSpec spec) {
        return spec.type()
                .flatMap(type -> entries(spec, type)
                        .or(() -> inner(spec, type))
                        .or(() -> size("key", keys(type), spec.keySize()))
                        .or(() -> size("value", values(type), spec.valueSize()))
                        .or(() -> flags(spec, type))
                        .or(() -> types(spec, type)));
    }

    private static Optional<String> entries(MapSpec spec, MapType type) {
        long entries = Integer.toUnsignedLong(spec.maxEntries());
        return switch (type) {
            case CGROUP_STORAGE, PERCPU_CGROUP_STORAGE, SK_STORAGE, INODE_STORAGE, TASK_STORAGE, CGRP_STORAGE ->
                entries == 0
                        ? Optional.empty()
                        : Optional.of("has max_entries " + entries + ", but a " + type
                                + " map takes 0: its values are attached to objects of the kernel");
            // Without entries, a load gives a perf event array one for each CPU. Kernels may let a resizable hash grow.
            case PERF_EVENT_ARRAY, STRUCT_OPS, RHASH -> Optional.empty();
            case RINGBUF, USER_RINGBUF ->
                entries == 0
                        ? Optional.of("has size 0; set its max_entries, in bytes")
                        : entries <= MAX_RING_BYTES
                                ? Optional.empty()
                                : Optional.of("has " + entries + " bytes, more than the 2 GiB that kernels allow");
            case ARENA ->
                entries == 0
                        ? Optional.of("has no pages; set its max_entries, in pages")
                        : entries <= MAX_PAGES
                                ? Optional.empty()
                                : Optional.of("has " + entries + " pages, more than the 4 GiB that kernels allow");
            default ->
                entries != 0
                        ? Optional.empty()
                        : Optional.of("has max_entries 0: set it in the object or by BpfLoader.map(\"" + spec.name()
                                + "\", map -> map.withMaxEntries(n))");
        };
    }

    private static Optional<String> size(String part, Sizes allowed, int size) {
        return allowed.allows(size)
                ? Optional.empty()
                : Optional.of("has a " + part + " of " + Integer.toUnsignedString(size)
                        + " bytes, but maps of its type take " + allowed);
    }

    private static Sizes keys(MapType type) {
        return switch (type) {
            case ARRAY,
                    PERCPU_ARRAY,
                    PROG_ARRAY,
                    PERF_EVENT_ARRAY,
                    CGROUP_ARRAY,
                    ARRAY_OF_MAPS,
                    STACK_TRACE,
                    DEVMAP,
                    DEVMAP_HASH,
                    CPUMAP,
                    XSKMAP,
                    SOCKMAP,
                    REUSEPORT_SOCKARRAY,
                    INSN_ARRAY,
                    SK_STORAGE,
                    INODE_STORAGE,
                    TASK_STORAGE,
                    CGRP_STORAGE -> Sizes.NUMBER;
            case QUEUE, STACK, BLOOM_FILTER, RINGBUF, USER_RINGBUF, ARENA -> Sizes.NONE;
            // The length of the prefix, and at least one byte of it, at most LPM_DATA_SIZE_MAX.
            case LPM_TRIE -> Sizes.between(4 + 1, 4 + 256);
            // A control group, or a control group and an attach type.
            case CGROUP_STORAGE, PERCPU_CGROUP_STORAGE -> Sizes.between(8, 16);
            case HASH, PERCPU_HASH, LRU_HASH, LRU_PERCPU_HASH, HASH_OF_MAPS, SOCKHASH, RHASH, STRUCT_OPS -> Sizes.ANY;
        };
    }

    private static Sizes values(MapType type) {
        return switch (type) {
            case PROG_ARRAY, PERF_EVENT_ARRAY, CGROUP_ARRAY, ARRAY_OF_MAPS, HASH_OF_MAPS, XSKMAP -> Sizes.NUMBER;
            case DEVMAP, DEVMAP_HASH, CPUMAP, SOCKMAP, SOCKHASH, REUSEPORT_SOCKARRAY -> Sizes.NUMBER_OR_LONG;
            case RINGBUF, USER_RINGBUF, ARENA -> Sizes.NONE;
            // Addresses.
            case STACK_TRACE -> new Sizes(8, 0xffff_ffffL, 8);
            default -> Sizes.ANY;
        };
    }

    private static Optional<String> flags(MapSpec spec, MapType type) {
        boolean allocated = (spec.flags() & MapSpec.F_NO_PREALLOC) == 0;
        return switch (type) {
            case LPM_TRIE, RHASH, SK_STORAGE, INODE_STORAGE, TASK_STORAGE, CGRP_STORAGE ->
                allocated
                        ? Optional.of("lacks BPF_F_NO_PREALLOC in its map_flags, which maps of its type require")
                        : Optional.empty();
            case LRU_HASH, LRU_PERCPU_HASH ->
                allocated
                        ? Optional.empty()
                        : Optional.of("has BPF_F_NO_PREALLOC in its map_flags, which maps of its type can't have");
            case ARENA ->
                (spec.flags() & MapSpec.F_MMAPABLE) != 0
                        ? Optional.empty()
                        : Optional.of("lacks BPF_F_MMAPABLE in its map_flags, which maps of its type require");
            default -> Optional.empty();
        };
    }

    private static Optional<String> types(MapSpec spec, MapType type) {
        return switch (type) {
            case SK_STORAGE, INODE_STORAGE, TASK_STORAGE, CGRP_STORAGE ->
                spec.keyTypeId() != 0 && spec.valueTypeId() != 0
                        ? Optional.empty()
                        : Optional.of(
                                "lacks the types of its keys and values (__type), which maps of its type require");
            default -> Optional.empty();
        };
    }

    private static Optional<String> inner(MapSpec spec, MapType type) {
        if (type != MapType.ARRAY_OF_MAPS && type != MapType.HASH_OF_MAPS) {
            return Optional.empty();
        }
        MapSpec inner = spec.inner();
        return inner == null
                ? Optional.of("does not define its inner maps (MapSpec.withInner)")
                : refusal(inner).map(problem -> "defines inner maps by a map that " + problem);
    }
}
