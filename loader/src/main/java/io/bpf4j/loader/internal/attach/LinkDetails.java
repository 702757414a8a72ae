package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.LinkInfo;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.LinkType;
import io.bpf4j.loader.link.LinkDetail;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The union in {@code struct bpf_link_info}, by the type of the link (include/uapi/linux/bpf.h, 6.18). Offsets are those
 * in the union, which starts 16 bytes into the struct.
 */
final class LinkDetails {
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED;

    private static final long RAW_TRACEPOINT_COOKIE = 16;

    private static final long TRACING_ATTACH_TYPE = 0;
    private static final long TRACING_OBJECT_ID = 4;
    private static final long TRACING_BTF_ID = 8;
    private static final long TRACING_COOKIE = 16;

    private static final long CGROUP_ID = 0;
    private static final long CGROUP_ATTACH_TYPE = 8;

    private static final long ITER_MAP_ID = 12;

    /** Of netns, tcx, netkit and sockmap: a number and an attach type. */
    private static final long NUMBER = 0;

    private static final long ATTACH_TYPE = 4;

    private static final long NETFILTER_FAMILY = 0;
    private static final long NETFILTER_HOOK = 4;
    private static final long NETFILTER_PRIORITY = 8;
    private static final long NETFILTER_FLAGS = 12;

    /** {@code tracing_multi}, which says so since 7.3 (commit 859055e07697); zeroes before. */
    private static final long TRACINGS_ATTACH_TYPE = 0;

    private static final long TRACINGS_COUNT = 4;
    private static final long TRACINGS_OBJECT_ID = 8;

    private static final long KPROBES_COUNT = 8;
    private static final long KPROBES_FLAGS = 12;
    private static final long KPROBES_MISSED = 16;

    private static final long UPROBES_COUNT = 36;
    private static final long UPROBES_FLAGS = 40;
    private static final long UPROBES_PID = 44;

    private static final long PERF_TYPE = 0;
    private static final long PERF_OFFSET = 20;
    private static final long PERF_UPROBE_COOKIE = 24;
    private static final long PERF_UPROBE_COUNTER = 32;
    private static final long PERF_KPROBE_ADDRESS = 24;
    private static final long PERF_KPROBE_MISSED = 32;
    private static final long PERF_KPROBE_COOKIE = 40;
    private static final long PERF_TRACEPOINT_COOKIE = 24;
    private static final long PERF_EVENT_CONFIG = 8;
    private static final long PERF_EVENT_TYPE = 16;
    private static final long PERF_EVENT_COOKIE = 24;

    private LinkDetails() {}

    static LinkDetail of(LinkInfo info) {
        MemorySegment detail = MemorySegment.ofArray(info.detail());
        Optional<LinkType> type = LinkType.of(info.type());
        if (type.isEmpty()) {
            return unknown(info);
        }
        return switch (type.get()) {
            case RAW_TRACEPOINT -> new LinkDetail.RawTracepoint(info.text(), detail.get(U64, RAW_TRACEPOINT_COOKIE));
            case TRACING ->
                new LinkDetail.Tracing(
                        attachType(detail, TRACING_ATTACH_TYPE),
                        detail.get(U32, TRACING_OBJECT_ID),
                        detail.get(U32, TRACING_BTF_ID),
                        detail.get(U64, TRACING_COOKIE));
            case CGROUP -> new LinkDetail.Cgroup(detail.get(U64, CGROUP_ID), attachType(detail, CGROUP_ATTACH_TYPE));
            case ITER -> new LinkDetail.Iter(info.text(), detail.get(U32, ITER_MAP_ID));
            case NETNS -> new LinkDetail.NetNamespace(detail.get(U32, NUMBER), attachType(detail, ATTACH_TYPE));
            case XDP -> new LinkDetail.Xdp(detail.get(U32, NUMBER));
            case TCX -> new LinkDetail.Tcx(detail.get(U32, NUMBER), attachType(detail, ATTACH_TYPE));
            case NETKIT -> new LinkDetail.Netkit(detail.get(U32, NUMBER), attachType(detail, ATTACH_TYPE));
            case STRUCT_OPS -> new LinkDetail.StructOps(detail.get(U32, NUMBER));
            case SOCKMAP -> new LinkDetail.Sockmap(detail.get(U32, NUMBER), attachType(detail, ATTACH_TYPE));
            case NETFILTER ->
                new LinkDetail.Netfilter(
                        detail.get(U32, NETFILTER_FAMILY),
                        detail.get(U32, NETFILTER_HOOK),
                        detail.get(U32, NETFILTER_PRIORITY),
                        detail.get(U32, NETFILTER_FLAGS));
            case TRACING_MULTI ->
                new LinkDetail.TracingMulti(
                        attachType(detail, TRACINGS_ATTACH_TYPE),
                        detail.get(U32, TRACINGS_COUNT),
                        detail.get(U32, TRACINGS_OBJECT_ID));
            case KPROBE_MULTI ->
                new LinkDetail.KprobeMulti(
                        detail.get(U32, KPROBES_COUNT),
                        detail.get(U32, KPROBES_FLAGS),
                        detail.get(U64, KPROBES_MISSED));
            case UPROBE_MULTI ->
                new LinkDetail.UprobeMulti(
                        info.text(),
                        detail.get(U32, UPROBES_COUNT),
                        detail.get(U32, UPROBES_FLAGS),
                        detail.get(U32, UPROBES_PID));
            case PERF_EVENT -> perf(info, detail);
        };
    }

    /** By {@code enum bpf_perf_event_type}; 0 on kernels before 6.6, which don't say. */
    private static LinkDetail perf(LinkInfo info, MemorySegment detail) {
        int type = detail.get(U32, PERF_TYPE);
        return switch (type) {
            case 1, 2 ->
                new LinkDetail.Uprobe(
                        info.text(),
                        Integer.toUnsignedLong(detail.get(U32, PERF_OFFSET)),
                        detail.get(U64, PERF_UPROBE_COUNTER),
                        type == 2,
                        detail.get(U64, PERF_UPROBE_COOKIE));
            case 3, 4 ->
                new LinkDetail.Kprobe(
                        info.text(),
                        detail.get(U32, PERF_OFFSET),
                        detail.get(U64, PERF_KPROBE_ADDRESS),
                        detail.get(U64, PERF_KPROBE_MISSED),
                        type == 4,
                        detail.get(U64, PERF_KPROBE_COOKIE));
            case 5 -> new LinkDetail.Tracepoint(info.text(), detail.get(U64, PERF_TRACEPOINT_COOKIE));
            case 6 ->
                new LinkDetail.PerfEvent(
                        detail.get(U32, PERF_EVENT_TYPE),
                        detail.get(U64, PERF_EVENT_CONFIG),
                        detail.get(U64, PERF_EVENT_COOKIE));
            default -> unknown(info);
        };
    }

    private static LinkDetail unknown(LinkInfo info) {
        return new LinkDetail.Unknown(HexFormat.of().formatHex(info.detail()));
    }

    private static Optional<AttachType> attachType(MemorySegment detail, long offset) {
        return AttachType.of(detail.get(U32, offset));
    }
}
