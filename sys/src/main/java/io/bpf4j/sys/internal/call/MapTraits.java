package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.internal.call.MapTraits.Entries.*;
import static io.bpf4j.sys.internal.call.MapTraits.Sizes.*;
import static io.bpf4j.sys.internal.call.MapTraits.Trait.*;

import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.util.List;
import java.util.Optional;

/**
 * The table of map types: what kernels require of a map of each type. <i>Immutable.</i>
 *
 * <p>Only rules that hold for all kernels that have the type are here; a rule of some kernels, such as the largest
 * value, is not. The source of each is the function {@code …_alloc_check} or {@code …_alloc} of the type in kernel/bpf
 * and net.
 *
 * <p>Tested by {@code FeaturesOnKernelTest}, {@code MapAttributesTest} and {@code MapKindsOnKernelTest}.
 *
 * @param feature the feature that introduced the type; empty for types that every supported kernel has, or that have no
 *     probe
 * @param needs for storage maps: the version and configuration of a kernel that has them; empty for others. Sources:
 *     the commits that added them, and the object files in kernel/bpf/Makefile and net/core/Makefile
 */
public record MapTraits(
        Sizes keys, Sizes values, Entries entries, List<Trait> traits, Optional<Feature> feature, String needs) {
    /** {@code BPF_F_NO_PREALLOC}. */
    public static final int F_NO_PREALLOC = 1;

    /** {@code BPF_F_MMAPABLE}. */
    public static final int F_MMAPABLE = 1 << 10;

    /** The properties of a type by its number; an unknown type is assumed to accept BTF. */
    public static MapTraits of(int typeNumber) {
        return MapType.of(typeNumber).map(MapTraits::of).orElse(row(any(4), any(4), OPTIONAL, ACCEPTS_BTF));
    }

    /** The properties of a type. */
    public static MapTraits of(MapType type) {
        return switch (type) {
            case HASH, PERCPU_HASH -> row(any(4), any(8), SOME, ACCEPTS_BTF, UNIQUE_IN_BATCH);
            case LRU_HASH, LRU_PERCPU_HASH -> row(any(4), any(8), SOME, ACCEPTS_BTF, UNIQUE_IN_BATCH, PREALLOC);
            // Kernels may let it grow without a bound.
            case RHASH ->
                row(any(4), any(8), OPTIONAL, ACCEPTS_BTF, NO_PREALLOC).since(Feature.RESIZABLE_HASH);
            case HASH_OF_MAPS -> row(any(4), NUMBER, SOME, HOLDS_MAPS, UNIQUE_IN_BATCH);
            case ARRAY, PERCPU_ARRAY -> row(NUMBER, any(8), SOME, ALL_ELEMENTS, ACCEPTS_BTF, UNIQUE_IN_BATCH);
            case ARRAY_OF_MAPS -> row(NUMBER, NUMBER, SOME, HOLDS_MAPS, UNIQUE_IN_BATCH);
            case PROG_ARRAY -> row(NUMBER, NUMBER, SOME, ACCEPTS_BTF);
            case CGROUP_ARRAY -> row(NUMBER, NUMBER, SOME);
            // A load gives one without entries an entry for each CPU.
            case PERF_EVENT_ARRAY -> row(NUMBER, NUMBER, OPTIONAL);
            case INSN_ARRAY -> row(NUMBER, any(16), SOME, ACCEPTS_BTF).since(Feature.INSN_ARRAY);
            case CPUMAP -> row(NUMBER, NUMBER_OR_LONG, SOME);
            case DEVMAP, DEVMAP_HASH, SOCKMAP -> row(NUMBER, NUMBER_OR_LONG, SOME, NEEDS_NET_ADMIN);
            case SOCKHASH -> row(any(4), NUMBER_OR_LONG, SOME, NEEDS_NET_ADMIN);
            case XSKMAP -> row(NUMBER, NUMBER, SOME, NEEDS_NET_ADMIN);
            case REUSEPORT_SOCKARRAY -> row(NUMBER, NUMBER_OR_LONG.with(8), SOME, ACCEPTS_BTF);
            // Addresses.
            case STACK_TRACE -> row(NUMBER, new Sizes(8, MAX, 8, 8), SOME);
            // The length of the prefix, and at least one byte of it, at most LPM_DATA_SIZE_MAX.
            case LPM_TRIE -> row(between(4 + 1, 4 + 256).with(8), any(8), SOME, ACCEPTS_BTF, NO_PREALLOC);
            case QUEUE, STACK -> row(NONE, any(8), SOME);
            case BLOOM_FILTER -> row(NONE, any(8), SOME, ACCEPTS_BTF).since(Feature.BLOOM_FILTER);
            case RINGBUF -> row(NONE, NONE, BYTES).since(Feature.RING_BUFFER);
            case USER_RINGBUF -> row(NONE, NONE, BYTES).since(Feature.USER_RING_BUFFER);
            case ARENA -> row(NONE, NONE, PAGES, ACCEPTS_BTF, MMAPABLE).since(Feature.ARENA);
            case STRUCT_OPS -> row(any(4), any(4), OPTIONAL, ACCEPTS_BTF);
            case CGROUP_STORAGE -> groupStorage().needs("Linux 4.19, built with CONFIG_CGROUP_BPF");
            case PERCPU_CGROUP_STORAGE -> groupStorage().needs("Linux 4.20, built with CONFIG_CGROUP_BPF");
            case SK_STORAGE -> storage().needs("Linux 5.2, built with CONFIG_NET");
            case INODE_STORAGE -> storage().needs("Linux 5.10, built with CONFIG_BPF_LSM");
            case TASK_STORAGE -> storage().needs("Linux 5.11, and before 5.13 CONFIG_BPF_LSM");
            case CGRP_STORAGE -> storage().needs("Linux 6.2, built with CONFIG_CGROUPS");
        };
    }

    private static MapTraits row(Sizes keys, Sizes values, Entries entries, Trait... traits) {
        return new MapTraits(keys, values, entries, List.of(traits), Optional.empty(), "");
    }

    private static MapTraits storage() {
        return row(NUMBER, any(4), NO, ACCEPTS_BTF, NEEDS_BTF, NO_PREALLOC);
    }

    /** The key is a control group, or a control group and an attach type. */
    private static MapTraits groupStorage() {
        return row(between(8, 16).with(16), any(8), NO, ACCEPTS_BTF);
    }

    private MapTraits since(Feature newFeature) {
        return new MapTraits(keys, values, entries, traits, Optional.of(newFeature), needs);
    }

    private MapTraits needs(String kernel) {
        return new MapTraits(keys, values, entries, traits, feature, kernel);
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }

    /** The flags that every map of the type has. */
    public int flags() {
        return (has(NO_PREALLOC) ? F_NO_PREALLOC : 0) | (has(MMAPABLE) ? F_MMAPABLE : 0);
    }

    /** A property that some types have. */
    public enum Trait {
        /**
         * Some kernel accepts BTF of keys and values. For all other types, kernels return ENOTSUPP ({@code
         * map_check_no_btf}), or require a key type although there is no key (queues and stacks).
         */
        ACCEPTS_BTF,
        /** All kernels require BTF of keys and values. */
        NEEDS_BTF,
        /** Requires BPF_F_NO_PREALLOC. */
        NO_PREALLOC,
        /** Refuses BPF_F_NO_PREALLOC. */
        PREALLOC,
        /** Requires BPF_F_MMAPABLE. */
        MMAPABLE,
        /** Values are maps. */
        HOLDS_MAPS,
        /** Always has all its elements, in the order of the index; none can be deleted. */
        ALL_ELEMENTS,
        /** A batch has each element at most once: complete buckets of hash maps, or all elements of an array. */
        UNIQUE_IN_BATCH,
        /** Creating one requires CAP_NET_ADMIN. */
        NEEDS_NET_ADMIN
    }

    /** The meaning of max_entries, with a small number that every kernel accepts. */
    public enum Entries {
        SOME(1),
        OPTIONAL(1),
        /** 0: values are attached to objects of the kernel. */
        NO(0),
        PAGES(1),
        /** A multiple of the page size of every machine, and a power of two. */
        BYTES(1 << 16);

        private final int small;

        Entries(int small) {
            this.small = small;
        }

        public int small() {
            return small;
        }
    }

    /**
     * The sizes in bytes that a key or a value may have.
     *
     * @param small a small size that every kernel accepts
     */
    public record Sizes(long min, long max, long multiple, int small) {
        static final long MAX = 0xffff_ffffL;

        /** Of maps without keys, or values. */
        static final Sizes NONE = between(0, 0);

        /** A number of 4 bytes; as a key, the index of an element or the number of a device. */
        public static final Sizes NUMBER = between(4, 4);

        /** A number, or a number and a program; or the cookie of a socket. */
        static final Sizes NUMBER_OR_LONG = new Sizes(4, 8, 4, 4);

        static Sizes any(int small) {
            return between(1, MAX).with(small);
        }

        static Sizes between(int min, long max) {
            return new Sizes(min, max, 1, min);
        }

        Sizes with(int newSmall) {
            return new Sizes(min, max, multiple, newSmall);
        }

        public boolean allows(int size) {
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
            return max == MAX ? min + " bytes or more" + unit : min + " to " + max + " bytes" + unit;
        }
    }
}
