package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.internal.call.MapTraits.Trait.ACCEPTS_BTF;
import static io.bpf4j.sys.internal.call.MapTraits.Trait.NEEDS_NET_ADMIN;
import static io.bpf4j.sys.internal.call.MapTraits.Trait.UNIQUE_IN_BATCH;

import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.util.List;
import java.util.Optional;

/**
 * The properties in which map types differ. <i>Immutable.</i>
 *
 * <p>Tested by {@code FeaturesOnKernelTest} and {@code MapKindsOnKernelTest}.
 *
 * @param keySize of the smallest map of this type that a kernel creates, like the next three
 * @param feature the feature that introduced the type; empty for types that every supported kernel has, or that have no
 *     probe
 * @param storage for storage maps, whose values are attached to a kernel object and which have no max_entries: the
 *     kernel that they need; empty for others. Sources: the commits that added them, and the object files in
 *     kernel/bpf/Makefile and net/core/Makefile
 */
public record MapTraits(
        int keySize,
        int valueSize,
        int maxEntries,
        int flags,
        List<Trait> traits,
        Optional<Feature> feature,
        String storage) {
    private static final int NO_PREALLOC = 1; // BPF_F_NO_PREALLOC
    private static final int MMAPABLE = 1 << 10; // BPF_F_MMAPABLE

    /** A multiple of the page size of every machine, and a power of two. */
    private static final int RING_SIZE = 1 << 16;

    /** A property that some types have. */
    public enum Trait {
        /**
         * Some kernel accepts BTF of keys and values. For all other types, kernels return ENOTSUPP ({@code
         * map_check_no_btf}), or require a key type although there is no key (queues and stacks).
         */
        ACCEPTS_BTF,
        /** A batch has each element at most once: complete buckets of hash maps, or all elements of an array. */
        UNIQUE_IN_BATCH,
        /** Creating one requires CAP_NET_ADMIN. */
        NEEDS_NET_ADMIN
    }

    /** The properties of a type by its number; an unknown type is assumed to accept BTF. */
    public static MapTraits of(int typeNumber) {
        return MapType.of(typeNumber).map(MapTraits::of).orElse(of(4, 4, ACCEPTS_BTF));
    }

    /** The properties of a type. */
    public static MapTraits of(MapType type) {
        return switch (type) {
            case HASH, PERCPU_HASH, LRU_HASH, LRU_PERCPU_HASH -> of(4, 8, ACCEPTS_BTF, UNIQUE_IN_BATCH);
            case ARRAY, PERCPU_ARRAY -> of(4, 8, ACCEPTS_BTF, UNIQUE_IN_BATCH);
            case ARRAY_OF_MAPS, HASH_OF_MAPS -> of(4, 4, UNIQUE_IN_BATCH);
            case PROG_ARRAY -> of(4, 4, ACCEPTS_BTF);
            case PERF_EVENT_ARRAY, CGROUP_ARRAY, CPUMAP -> of(4, 4);
            case DEVMAP, DEVMAP_HASH, XSKMAP, SOCKMAP, SOCKHASH -> of(4, 4, NEEDS_NET_ADMIN);
            case STACK_TRACE -> of(4, 8);
            case REUSEPORT_SOCKARRAY -> of(4, 8, ACCEPTS_BTF);
            case LPM_TRIE -> of(8, 8, ACCEPTS_BTF).with(1, NO_PREALLOC);
            case RHASH -> of(4, 8, ACCEPTS_BTF).with(1, NO_PREALLOC).since(Feature.RESIZABLE_HASH);
            case QUEUE, STACK -> of(0, 8);
            case BLOOM_FILTER -> of(0, 8, ACCEPTS_BTF).since(Feature.BLOOM_FILTER);
            case INSN_ARRAY -> of(4, 16, ACCEPTS_BTF).since(Feature.INSN_ARRAY);
            case RINGBUF -> of(0, 0).with(RING_SIZE, 0).since(Feature.RING_BUFFER);
            case USER_RINGBUF -> of(0, 0).with(RING_SIZE, 0).since(Feature.USER_RING_BUFFER);
            case ARENA -> of(0, 0, ACCEPTS_BTF).with(1, MMAPABLE).since(Feature.ARENA);
            case STRUCT_OPS -> of(4, 4, ACCEPTS_BTF);
            case CGROUP_STORAGE -> of(16, 8, ACCEPTS_BTF).storage(0, "Linux 4.19, built with CONFIG_CGROUP_BPF");
            case PERCPU_CGROUP_STORAGE -> of(16, 8, ACCEPTS_BTF).storage(0, "Linux 4.20, built with CONFIG_CGROUP_BPF");
            case SK_STORAGE -> of(4, 4, ACCEPTS_BTF).storage(NO_PREALLOC, "Linux 5.2, built with CONFIG_NET");
            case INODE_STORAGE -> of(4, 4, ACCEPTS_BTF).storage(NO_PREALLOC, "Linux 5.10, built with CONFIG_BPF_LSM");
            case TASK_STORAGE ->
                of(4, 4, ACCEPTS_BTF).storage(NO_PREALLOC, "Linux 5.11, and before 5.13 CONFIG_BPF_LSM");
            case CGRP_STORAGE -> of(4, 4, ACCEPTS_BTF).storage(NO_PREALLOC, "Linux 6.2, built with CONFIG_CGROUPS");
        };
    }

    private static MapTraits of(int keySize, int valueSize, Trait... traits) {
        return new MapTraits(keySize, valueSize, 1, 0, List.of(traits), Optional.empty(), "");
    }

    private MapTraits with(int newMaxEntries, int newFlags) {
        return new MapTraits(keySize, valueSize, newMaxEntries, newFlags, traits, feature, storage);
    }

    private MapTraits since(Feature newFeature) {
        return new MapTraits(keySize, valueSize, maxEntries, flags, traits, Optional.of(newFeature), storage);
    }

    private MapTraits storage(int newFlags, String needs) {
        return new MapTraits(keySize, valueSize, 0, newFlags, traits, feature, needs);
    }

    public boolean has(Trait trait) {
        return traits.contains(trait);
    }
}
