package io.bpf4j.sys.internal.call;

import static io.bpf4j.sys.internal.call.MapTraits.Trait.DESCRIBED;
import static io.bpf4j.sys.internal.call.MapTraits.Trait.NETWORK;
import static io.bpf4j.sys.internal.call.MapTraits.Trait.ONCE;

import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.util.List;
import java.util.Optional;

/**
 * What the types of maps differ in: a row for each. <i>Immutable.</i>
 *
 * <p>Tested by {@code FeaturesOnKernelTest} and {@code MapKindsOnKernelTest}.
 *
 * @param keySize of the smallest map of this type that a kernel makes, as are the next three
 * @param feature that brought the type; empty for types that every supported kernel has, or that have no probe
 * @param storage for maps whose values are attached to an object of the kernel, so that they have no number of entries:
 *     the kernel that they take; empty for others. The commits that added them, and the object files in
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
         * Some kernel accepts BTF of keys and values. To all other types a kernel gives ENOTSUPP ({@code
         * map_check_no_btf}), or asks for a key's type where there is no key (queues and stacks).
         */
        DESCRIBED,
        /** A batch holds an element at most once: complete buckets of hash maps, or all elements of an array. */
        ONCE,
        /** To make one takes CAP_NET_ADMIN. */
        NETWORK
    }

    /** The row of a type by its number; of an unknown type it is assumed that it takes BTF. */
    public static MapTraits of(int typeNumber) {
        return MapType.of(typeNumber).map(MapTraits::of).orElse(of(4, 4, DESCRIBED));
    }

    /** The row of a type. */
    public static MapTraits of(MapType type) {
        return switch (type) {
            case HASH, PERCPU_HASH, LRU_HASH, LRU_PERCPU_HASH -> of(4, 8, DESCRIBED, ONCE);
            case ARRAY, PERCPU_ARRAY -> of(4, 8, DESCRIBED, ONCE);
            case ARRAY_OF_MAPS, HASH_OF_MAPS -> of(4, 4, ONCE);
            case PROG_ARRAY -> of(4, 4, DESCRIBED);
            case PERF_EVENT_ARRAY, CGROUP_ARRAY, CPUMAP -> of(4, 4);
            case DEVMAP, DEVMAP_HASH, XSKMAP, SOCKMAP, SOCKHASH -> of(4, 4, NETWORK);
            case STACK_TRACE -> of(4, 8);
            case REUSEPORT_SOCKARRAY -> of(4, 8, DESCRIBED);
            case LPM_TRIE -> of(8, 8, DESCRIBED).with(1, NO_PREALLOC);
            case RHASH -> of(4, 8, DESCRIBED).with(1, NO_PREALLOC).since(Feature.RESIZABLE_HASH);
            case QUEUE, STACK -> of(0, 8);
            case BLOOM_FILTER -> of(0, 8, DESCRIBED).since(Feature.BLOOM_FILTER);
            case INSN_ARRAY -> of(4, 16, DESCRIBED).since(Feature.INSN_ARRAY);
            case RINGBUF -> of(0, 0).with(RING_SIZE, 0).since(Feature.RING_BUFFER);
            case USER_RINGBUF -> of(0, 0).with(RING_SIZE, 0).since(Feature.USER_RING_BUFFER);
            case ARENA -> of(0, 0, DESCRIBED).with(1, MMAPABLE).since(Feature.ARENA);
            case STRUCT_OPS -> of(4, 4, DESCRIBED);
            case CGROUP_STORAGE -> of(16, 8, DESCRIBED).storage(0, "Linux 4.19, built with CONFIG_CGROUP_BPF");
            case PERCPU_CGROUP_STORAGE -> of(16, 8, DESCRIBED).storage(0, "Linux 4.20, built with CONFIG_CGROUP_BPF");
            case SK_STORAGE -> of(4, 4, DESCRIBED).storage(NO_PREALLOC, "Linux 5.2, built with CONFIG_NET");
            case INODE_STORAGE -> of(4, 4, DESCRIBED).storage(NO_PREALLOC, "Linux 5.10, built with CONFIG_BPF_LSM");
            case TASK_STORAGE -> of(4, 4, DESCRIBED).storage(NO_PREALLOC, "Linux 5.11, and before 5.13 CONFIG_BPF_LSM");
            case CGRP_STORAGE -> of(4, 4, DESCRIBED).storage(NO_PREALLOC, "Linux 6.2, built with CONFIG_CGROUPS");
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
