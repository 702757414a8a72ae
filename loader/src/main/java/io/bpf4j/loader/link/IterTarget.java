package io.bpf4j.loader.link;

import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;

/** What an iterator goes over, as far as its kind doesn't say it. <i>Immutable.</i> */
public sealed interface IterTarget {
    /** All there is of the iterator's kind: {@code SEC("iter/task")}, {@code "iter/bpf_map"}, {@code "iter/tcp"}. */
    record All() implements IterTarget {}

    /** The elements of a map: {@code SEC("iter/bpf_map_elem")} and {@code "iter/bpf_sk_storage_map"}. */
    record Elements(BpfMap map) implements IterTarget {}

    /** Control groups from one on: {@code SEC("iter/cgroup")} (Linux 6.1). */
    record Cgroups(Path cgroup, CgroupWalk walk) implements IterTarget {}

    /** One process: all its threads. {@code SEC("iter/task")} and its like (Linux 6.1). */
    record OfProcess(int pid) implements IterTarget {}

    /** One thread. {@code SEC("iter/task")} and its like (Linux 6.1). */
    record OfThread(int tid) implements IterTarget {}

    /** Which control groups, and in which order ({@code enum bpf_cgroup_iter_order}). */
    enum CgroupWalk {
        /** That one alone. */
        SELF(1),
        /** It and those below, each before those below it. */
        DESCENDANTS_PRE(2),
        /** It and those below, each behind those below it. */
        DESCENDANTS_POST(3),
        /** It and those above, up to the root. */
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
