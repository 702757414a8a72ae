package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.LinkInfo;
import io.bpf4j.loader.internal.sys.LinkInfo.TextField;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.LinkDetail;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads what the kernel says of a link beside its ids: the union of {@code struct bpf_link_info}
 * (include/uapi/linux/bpf.h, 6.18), of which the link's type selects the member.
 */
public final class LinkDetails {
    /** {@code enum bpf_link_type}. */
    private static final int TYPE_RAW_TRACEPOINT = 1;

    private static final int TYPE_TRACING = 2;
    private static final int TYPE_CGROUP = 3;
    static final int TYPE_ITER = 4;
    private static final int TYPE_NETNS = 5;
    private static final int TYPE_XDP = 6;
    private static final int TYPE_PERF_EVENT = 7;
    private static final int TYPE_KPROBE_MULTI = 8;
    static final int TYPE_STRUCT_OPS = 9;
    private static final int TYPE_NETFILTER = 10;
    private static final int TYPE_TCX = 11;
    private static final int TYPE_UPROBE_MULTI = 12;
    private static final int TYPE_NETKIT = 13;
    private static final int TYPE_SOCKMAP = 14;
    private static final int TYPE_TRACING_MULTI = 15;

    private static final StructLayout RAW_TRACEPOINT =
            StructLayout.of("bpf_link_info.raw_tracepoint", "u64 tp_name; u32 tp_name_len; u64 cookie");
    private static final StructLayout TRACING =
            StructLayout.of("bpf_link_info.tracing", "u32 attach_type, target_obj_id, target_btf_id; u64 cookie");
    private static final StructLayout CGROUP =
            StructLayout.of("bpf_link_info.cgroup", "u64 cgroup_id; u32 attach_type");
    private static final StructLayout ITER =
            StructLayout.of("bpf_link_info.iter", "u64 target_name; u32 target_name_len, map.map_id");
    private static final StructLayout NETNS = StructLayout.of("bpf_link_info.netns", "u32 netns_ino, attach_type");
    private static final StructLayout XDP = StructLayout.of("bpf_link_info.xdp", "u32 ifindex");
    private static final StructLayout UPROBE = StructLayout.of("bpf_link_info.perf_event", """
            u32 type;
            u64 uprobe.file_name;
            u32 uprobe.name_len, uprobe.offset;
            u64 uprobe.cookie, uprobe.ref_ctr_offset;
            """);
    private static final StructLayout KPROBE = StructLayout.of("bpf_link_info.perf_event", """
            u32 type;
            u64 kprobe.func_name;
            u32 kprobe.name_len, kprobe.offset;
            u64 kprobe.addr, kprobe.missed, kprobe.cookie;
            """);
    private static final StructLayout TRACEPOINT = StructLayout.of(
            "bpf_link_info.perf_event",
            "u32 type; u64 tracepoint.tp_name; u32 tracepoint.name_len; u64 tracepoint.cookie");
    private static final StructLayout EVENT =
            StructLayout.of("bpf_link_info.perf_event", "u32 type; u64 event.config; u32 event.type; u64 event.cookie");
    private static final StructLayout KPROBE_MULTI =
            StructLayout.of("bpf_link_info.kprobe_multi", "u64 addrs; u32 count, flags; u64 missed");
    private static final StructLayout STRUCT_OPS = StructLayout.of("bpf_link_info.struct_ops", "u32 map_id");
    private static final StructLayout NETFILTER =
            StructLayout.of("bpf_link_info.netfilter", "u32 pf, hooknum, priority, flags");
    private static final StructLayout TCX = StructLayout.of("bpf_link_info.tcx", "u32 ifindex, attach_type");
    private static final StructLayout UPROBE_MULTI = StructLayout.of(
            "bpf_link_info.uprobe_multi",
            "u64 path, offsets, ref_ctr_offsets, cookies; u32 path_size, count, flags, pid");
    private static final StructLayout NETKIT = StructLayout.of("bpf_link_info.netkit", "u32 ifindex, attach_type");
    private static final StructLayout SOCKMAP = StructLayout.of("bpf_link_info.sockmap", "u32 map_id, attach_type");

    /** Since 7.3 (commit 859055e07697); zeroes before. */
    private static final StructLayout TRACING_MULTI =
            StructLayout.of("bpf_link_info.tracing_multi", "u32 attach_type, count, obj_id");

    private LinkDetails() {}

    static LinkDetail of(LinkInfo info) {
        return switch (info.type()) {
            case TYPE_RAW_TRACEPOINT -> new LinkDetail.RawTracepoint(info.text(), info.u64(RAW_TRACEPOINT, "cookie"));
            case TYPE_TRACING ->
                new LinkDetail.Tracing(
                        attachType(info, TRACING),
                        info.u32(TRACING, "target_obj_id"),
                        info.u32(TRACING, "target_btf_id"),
                        info.u64(TRACING, "cookie"));
            case TYPE_CGROUP -> new LinkDetail.Cgroup(info.u64(CGROUP, "cgroup_id"), attachType(info, CGROUP));
            case TYPE_ITER -> new LinkDetail.Iter(info.text(), info.u32(ITER, "map.map_id"));
            case TYPE_NETNS -> new LinkDetail.NetNamespace(info.u32(NETNS, "netns_ino"), attachType(info, NETNS));
            case TYPE_XDP -> new LinkDetail.Xdp(info.u32(XDP, "ifindex"));
            case TYPE_PERF_EVENT -> perfEvent(info, info.u32(EVENT, "type"));
            case TYPE_KPROBE_MULTI ->
                new LinkDetail.KprobeMulti(
                        info.u32(KPROBE_MULTI, "count"),
                        info.u32(KPROBE_MULTI, "flags"),
                        info.u64(KPROBE_MULTI, "missed"));
            case TYPE_STRUCT_OPS -> new LinkDetail.StructOps(info.u32(STRUCT_OPS, "map_id"));
            case TYPE_NETFILTER ->
                new LinkDetail.Netfilter(
                        info.u32(NETFILTER, "pf"),
                        info.u32(NETFILTER, "hooknum"),
                        info.u32(NETFILTER, "priority"),
                        info.u32(NETFILTER, "flags"));
            case TYPE_TCX -> new LinkDetail.Tcx(info.u32(TCX, "ifindex"), attachType(info, TCX));
            case TYPE_UPROBE_MULTI ->
                new LinkDetail.UprobeMulti(
                        info.text(),
                        info.u32(UPROBE_MULTI, "count"),
                        info.u32(UPROBE_MULTI, "flags"),
                        info.u32(UPROBE_MULTI, "pid"));
            case TYPE_NETKIT -> new LinkDetail.Netkit(info.u32(NETKIT, "ifindex"), attachType(info, NETKIT));
            case TYPE_SOCKMAP -> new LinkDetail.Sockmap(info.u32(SOCKMAP, "map_id"), attachType(info, SOCKMAP));
            case TYPE_TRACING_MULTI ->
                new LinkDetail.TracingMulti(
                        attachType(info, TRACING_MULTI),
                        info.u32(TRACING_MULTI, "count"),
                        info.u32(TRACING_MULTI, "obj_id"));
            default -> unknown(info);
        };
    }

    /** By {@code enum bpf_perf_event_type}; 0 on kernels before 6.6, which don't report it. */
    private static LinkDetail perfEvent(LinkInfo info, int type) {
        return switch (type) {
            case 1, 2 ->
                new LinkDetail.Uprobe(
                        info.text(),
                        Integer.toUnsignedLong(info.u32(UPROBE, "uprobe.offset")),
                        info.u64(UPROBE, "uprobe.ref_ctr_offset"),
                        type == 2,
                        info.u64(UPROBE, "uprobe.cookie"));
            case 3, 4 ->
                new LinkDetail.Kprobe(
                        info.text(),
                        info.u32(KPROBE, "kprobe.offset"),
                        info.u64(KPROBE, "kprobe.addr"),
                        info.u64(KPROBE, "kprobe.missed"),
                        type == 4,
                        info.u64(KPROBE, "kprobe.cookie"));
            case 5 -> new LinkDetail.Tracepoint(info.text(), info.u64(TRACEPOINT, "tracepoint.cookie"));
            case 6 ->
                new LinkDetail.PerfEvent(
                        info.u32(EVENT, "event.type"),
                        info.u64(EVENT, "event.config"),
                        info.u64(EVENT, "event.cookie"));
            default -> unknown(info);
        };
    }

    private static Optional<AttachType> attachType(LinkInfo info, StructLayout layout) {
        return AttachType.of(info.u32(layout, "attach_type"));
    }

    private static LinkDetail unknown(LinkInfo info) {
        return new LinkDetail.Unknown(HexFormat.of().formatHex(info.detail()));
    }

    /** The text that the kernel can be asked for; null for none. */
    public static @Nullable TextField text(LinkInfo known) {
        return switch (known.type()) {
            case TYPE_RAW_TRACEPOINT -> new TextField(RAW_TRACEPOINT, "tp_name", "tp_name_len");
            case TYPE_ITER -> new TextField(ITER, "target_name", "target_name_len");
            case TYPE_UPROBE_MULTI -> new TextField(UPROBE_MULTI, "path", "path_size");
            case TYPE_PERF_EVENT ->
                switch (known.u32(EVENT, "type")) {
                    case 1, 2 -> new TextField(UPROBE, "uprobe.file_name", "uprobe.name_len");
                    case 3, 4 -> new TextField(KPROBE, "kprobe.func_name", "kprobe.name_len");
                    case 5 -> new TextField(TRACEPOINT, "tracepoint.tp_name", "tracepoint.name_len");
                    default -> null;
                };
            default -> null;
        };
    }
}
