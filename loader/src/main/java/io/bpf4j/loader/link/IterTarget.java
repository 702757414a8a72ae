package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;

/** The objects that an iterator visits, beyond what its kind says. <i>Immutable.</i> */
public sealed interface IterTarget {
    /** All objects of the iterator's kind: {@code SEC("iter/task")}, {@code "iter/bpf_map"}, {@code "iter/tcp"}. */
    record All() implements IterTarget {}

    /** The elements of a map: {@code SEC("iter/bpf_map_elem")} and {@code "iter/bpf_sk_storage_map"}. */
    record Elements(BpfMap map) implements IterTarget {}

    /** Control groups, starting from one: {@code SEC("iter/cgroup")} (Linux 6.1). */
    record Cgroups(Path cgroup, CgroupWalk walk) implements IterTarget {}

    /** One process: all its threads. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
    record OfProcess(int pid) implements IterTarget {}

    /** One thread. {@code SEC("iter/task")} and similar iterators (Linux 6.1). */
    record OfThread(int tid) implements IterTarget {}

    /** The control groups to visit, and their order ({@code enum bpf_cgroup_iter_order}). */
    enum CgroupWalk {
        /** The given group alone. */
        SELF(1),
        /** The given group and its descendants, each group before its descendants. */
        DESCENDANTS_PRE(2),
        /** The given group and its descendants, each group after its descendants. */
        DESCENDANTS_POST(3),
        /** The given group and its ancestors, up to the root. */
        ANCESTORS(4);

        private final int number;

        CgroupWalk(int number) {
            this.number = number;
        }

        public int number() {
            return number;
        }
    }

    /** For messages; empty for {@link All}. */
    default String suffix() {
        return switch (this) {
            case All _ -> "";
            case Elements elements -> " over map \"" + elements.map().name() + "\"";
            case Cgroups cgroups -> " over control group " + cgroups.cgroup();
            case OfProcess process -> " over process " + process.pid();
            case OfThread thread -> " over thread " + thread.tid();
        };
    }
}
