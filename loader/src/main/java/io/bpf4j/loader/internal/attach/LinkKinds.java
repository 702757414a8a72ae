package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.RawLinkInfo.TextField;
import io.bpf4j.sys.kernel.KernelVersion;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * All kinds of links: selects the code that attaches to a target and the code that reads the kernel's description of a
 * link ({@code struct bpf_link_info}, include/uapi/linux/bpf.h, 6.18).
 */
public final class LinkKinds {
    private static final List<LinkView> VIEWS = List.of(
            TracingKind.RAW_VIEW,
            TracingKind.VIEW,
            CgroupKind.VIEW,
            IterKind.VIEW,
            NetNamespaceKind.VIEW,
            XdpKind.VIEW,
            PerfKind.VIEW,
            KprobeMultiKind.VIEW,
            StructOpsKind.VIEW,
            NetfilterKind.VIEW,
            DeviceKind.TCX_VIEW,
            UprobeMultiKind.VIEW,
            DeviceKind.NETKIT_VIEW,
            SockmapKind.VIEW,
            TracingMultiKind.VIEW);

    private LinkKinds() {}

    /** @param since the first kernel with such links; older ones return EINVAL. Null if a feature probe detects them */
    record Row(LinkKind kind, @Nullable KernelVersion since) {
        private Row since(int major, int minor) {
            return new Row(kind, KernelVersion.of(major, minor));
        }
    }

    static Row of(AttachTarget target, Host host, FunctionSites functions) {
        return switch (target) {
            case AttachTarget.Uprobe uprobe -> row(PerfKind.of(uprobe, functions));
            case AttachTarget.UprobeMulti uprobes -> row(new UprobeMultiKind(uprobes, functions));
            case AttachTarget.Kprobe kprobe -> row(PerfKind.of(kprobe));
            case AttachTarget.Ksyscall call -> row(PerfKind.of(call));
            case AttachTarget.KprobeMulti kprobes -> row(new KprobeMultiKind(kprobes, TraceFs.of(host)));
            case AttachTarget.Tracepoint tracepoint -> row(attempt -> PerfAttacher.tracepoint(attempt, tracepoint));
            case AttachTarget.RawTracepoint raw -> row(TracingKind.of(raw));
            case AttachTarget.Tracing tracing -> row(TracingKind.of(tracing));
            case AttachTarget.TracingMulti many ->
                row(new TracingMultiKind(many, KernelBtf.of(host)::ofModule, TraceFs.of(host)));
            case AttachTarget.Freplace freplace -> row(new TracingKind.Freplace(freplace));
            case AttachTarget.PerfEvent event -> row(attempt -> PerfAttacher.event(attempt, event));
            case AttachTarget.OpenPerfEvent event -> row(PerfKind.of(event));
            case AttachTarget.Cgroup cgroup -> row(new CgroupKind(cgroup)).since(5, 7);
            case AttachTarget.Xdp xdp -> row(new XdpKind(xdp)).since(5, 9);
            case AttachTarget.Tcx tcx -> row(DeviceKind.of(tcx)).since(6, 6);
            case AttachTarget.Netkit netkit -> row(DeviceKind.of(netkit)).since(6, 7);
            case AttachTarget.Netfilter netfilter ->
                row(new NetfilterKind(netfilter)).since(6, 4);
            case AttachTarget.NetNamespace namespace ->
                row(new NetNamespaceKind(namespace)).since(5, 8);
            case AttachTarget.Sockmap sockmap -> row(new SockmapKind(sockmap));
            case AttachTarget.Iter iter -> row(new IterKind(iter)).since(5, 8);
            case AttachTarget.Lirc lirc -> row(attempt -> Unlinked.lirc(attempt, lirc));
        };
    }

    private static Row row(LinkKind kind) {
        return new Row(kind, null);
    }

    static Optional<LinkView> view(int type) {
        return VIEWS.stream().filter(view -> view.type() == type).findFirst();
    }

    /** The text field that can be queried; null for none. */
    public static @Nullable TextField text(RawLinkInfo known) {
        return view(known.type()).map(view -> view.text().apply(known)).orElse(null);
    }

    static LinkDetail detail(RawLinkInfo info) {
        return view(info.type()).map(view -> view.detail().apply(info)).orElseGet(() -> unknown(info));
    }

    static LinkDetail unknown(RawLinkInfo info) {
        return new LinkDetail.Unknown(HexFormat.of().formatHex(info.detail()));
    }
}
