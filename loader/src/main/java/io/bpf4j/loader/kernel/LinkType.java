package io.bpf4j.loader.kernel;

import java.util.Optional;

/**
 * Kinds of links, by the kernel's names and numbers ({@code enum bpf_link_type} of include/uapi/linux/bpf.h, 7.3).
 * <i>Immutable.</i>
 */
public enum LinkType {
    RAW_TRACEPOINT(1),
    TRACING(2),
    CGROUP(3),
    ITER(4),
    NETNS(5),
    XDP(6),
    PERF_EVENT(7),
    KPROBE_MULTI(8),
    STRUCT_OPS(9),
    NETFILTER(10),
    TCX(11),
    UPROBE_MULTI(12),
    NETKIT(13),
    SOCKMAP(14),
    TRACING_MULTI(15);

    private final int number;

    LinkType(int number) {
        this.number = number;
    }

    /** The number of this type in the kernel ABI. */
    public int number() {
        return number;
    }

    /** The type of that number; empty if this list does not have it. */
    public static Optional<LinkType> of(int number) {
        for (LinkType candidate : values()) {
            if (candidate.number == number) {
                return Optional.of(candidate);
            }
        }
        return Optional.empty();
    }
}
