package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * An iterator over objects of the kernel (Linux 5.8); {@code SEC("iter/…")} (TRACE_ITER). Attaching returns an
 * {@link IteratorLink}. Its streams return the program's output.
 */
public sealed interface Iter extends AttachTarget {
    /** The control groups to visit, and their order ({@code enum bpf_cgroup_iter_order}). */
    enum Walk {
        /** The given group alone. */
        SELF(1),
        /** The given group and its descendants, each group before its descendants. */
        DESCENDANTS_PRE(2),
        /** The given group and its descendants, each group after its descendants. */
        DESCENDANTS_POST(3),
        /** The given group and its ancestors, up to the root. */
        ANCESTORS(4),
        /** The groups directly below the given one, without that itself (Linux 7.0, commit 752b807028e6). */
        CHILDREN(5);

        private final int number;

        Walk(int number) {
            this.number = number;
        }

        public int number() {
            return number;
        }
    }

    /** All objects of the iterator's kind: {@code SEC("iter/task")}, {@code "iter/bpf_map"}, {@code "iter/tcp"}. */
    static Iter all() {
        return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, OptionalInt.empty(), OptionalInt.empty());
    }

    /**
     * The elements of a map: {@code SEC("iter/bpf_map_elem")} and {@code "iter/bpf_sk_storage_map"}.
     *
     * @param map still belongs to its owner
     */
    static Iter elements(BpfMap map) {
        return new IterData(Optional.of(map), Optional.empty(), Walk.SELF, OptionalInt.empty(), OptionalInt.empty());
    }

    /** Control groups, starting from one, by its directory: {@code SEC("iter/cgroup")} (Linux 6.1). */
    static Iter cgroups(Path cgroup, Walk walk) {
        return new IterData(Optional.empty(), Optional.of(cgroup), walk, OptionalInt.empty(), OptionalInt.empty());
    }

    /** One process: all its threads. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
    static Iter process(int pid) {
        return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, OptionalInt.of(pid), OptionalInt.empty());
    }

    /** One thread. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
    static Iter thread(int tid) {
        return new IterData(Optional.empty(), Optional.empty(), Walk.SELF, OptionalInt.empty(), OptionalInt.of(tid));
    }

    Optional<BpfMap> map();

    Optional<Path> cgroup();

    Walk walk();

    /** The process whose threads are visited; empty for others. */
    OptionalInt pid();

    /** The thread that is visited; empty for others. */
    OptionalInt tid();
}

record IterData(Optional<BpfMap> map, Optional<Path> cgroup, Iter.Walk walk, OptionalInt pid, OptionalInt tid)
        implements Iter {
    IterData {
        TargetArguments.requirePid(pid);
        TargetArguments.requireTid(tid);
    }

    @Override
    public String description() {
        return "iterator"
                + map.map(known -> " over map \"" + known.name() + "\"").orElse("")
                + cgroup.map(group -> " over control group " + group).orElse("")
                + (pid.isPresent() ? " over process " + pid.getAsInt() : "")
                + (tid.isPresent() ? " over thread " + tid.getAsInt() : "");
    }
}
