package io.bpf4j.sys.kernel;

import java.util.Optional;
import java.util.stream.Stream;

/**
 * The types of BPF maps, with the kernel's names and numbers ({@code enum bpf_map_type} of include/uapi/linux/bpf.h,
 * 7.3).
 *
 * <p>A kernel may know types that this list lacks; code that reads numbers from the kernel or from an object keeps the
 * number. <i>Immutable.</i>
 *
 * <p>Tested by {@code KernelValuesTest}.
 */
public enum MapType implements KernelFeature {
    HASH(1),
    ARRAY(2),
    PROG_ARRAY(3),
    PERF_EVENT_ARRAY(4),
    PERCPU_HASH(5),
    PERCPU_ARRAY(6),
    STACK_TRACE(7),
    CGROUP_ARRAY(8),
    LRU_HASH(9),
    LRU_PERCPU_HASH(10),
    LPM_TRIE(11),
    ARRAY_OF_MAPS(12),
    HASH_OF_MAPS(13),
    DEVMAP(14),
    SOCKMAP(15),
    CPUMAP(16),
    XSKMAP(17),
    SOCKHASH(18),
    CGROUP_STORAGE(19),
    REUSEPORT_SOCKARRAY(20),
    PERCPU_CGROUP_STORAGE(21),
    QUEUE(22),
    STACK(23),
    SK_STORAGE(24),
    DEVMAP_HASH(25),
    STRUCT_OPS(26),
    RINGBUF(27),
    INODE_STORAGE(28),
    TASK_STORAGE(29),
    BLOOM_FILTER(30),
    USER_RINGBUF(31),
    CGRP_STORAGE(32),
    ARENA(33),
    /** Instruction offsets in a program, for indirect jumps: jump tables. */
    INSN_ARRAY(34),
    /** A hash map that grows and shrinks with its contents. */
    RHASH(35);

    private final int number;

    MapType(int number) {
        this.number = number;
    }

    /** The number of this type in the kernel ABI. */
    public int number() {
        return number;
    }

    /** The type with this number; empty if this list lacks it. */
    public static Optional<MapType> of(int number) {
        return Stream.of(values()).filter(type -> type.number == number).findFirst();
    }

    /** Whether each possible CPU has its own value, so that user space reads and writes an array of values. */
    public boolean isPerCpu() {
        return switch (this) {
            case PERCPU_HASH, PERCPU_ARRAY, LRU_PERCPU_HASH, PERCPU_CGROUP_STORAGE -> true;
            default -> false;
        };
    }
}
