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

    static LinkKind of(AttachTarget target, Host host, FunctionSites functions) {
        return switch (target) {
            case AttachTarget.Uprobe uprobe -> PerfKind.of(uprobe, functions);
            case AttachTarget.UprobeMulti uprobes -> new UprobeMultiKind(uprobes, functions);
            case AttachTarget.Kprobe kprobe -> PerfKind.of(kprobe);
            case AttachTarget.Ksyscall call -> PerfKind.of(call);
            case AttachTarget.KprobeMulti kprobes -> new KprobeMultiKind(kprobes, TraceFs.of(host));
            case AttachTarget.Tracepoint tracepoint -> attempt -> PerfAttacher.tracepoint(attempt, tracepoint);
            case AttachTarget.RawTracepoint raw -> TracingKind.of(raw);
            case AttachTarget.Tracing tracing -> TracingKind.of(tracing);
            case AttachTarget.TracingMulti many ->
                new TracingMultiKind(many, KernelBtf.of(host)::ofModule, TraceFs.of(host));
            case AttachTarget.Freplace freplace -> new TracingKind.Freplace(freplace);
            case AttachTarget.PerfEvent event -> attempt -> PerfAttacher.event(attempt, event);
            case AttachTarget.OpenPerfEvent event -> PerfKind.of(event);
            case AttachTarget.Cgroup cgroup -> new CgroupKind(cgroup);
            case AttachTarget.Xdp xdp -> new XdpKind(xdp);
            case AttachTarget.Tcx tcx -> DeviceKind.of(tcx);
            case AttachTarget.Netkit netkit -> DeviceKind.of(netkit);
            case AttachTarget.Netfilter netfilter -> new NetfilterKind(netfilter);
            case AttachTarget.NetNamespace namespace -> new NetNamespaceKind(namespace);
            case AttachTarget.Sockmap sockmap -> new SockmapKind(sockmap);
            case AttachTarget.Iter iter -> new IterKind(iter);
            case AttachTarget.Lirc lirc -> attempt -> Unlinked.lirc(attempt, lirc);
        };
    }

    /** The first kernel version with such links; older kernels return EINVAL. Null if a feature probe detects them. */
    static @Nullable KernelVersion since(AttachTarget target) {
        return switch (target) {
            case AttachTarget.Cgroup _ -> KernelVersion.of(5, 7);
            case AttachTarget.NetNamespace _, AttachTarget.Iter _ -> KernelVersion.of(5, 8);
            case AttachTarget.Xdp _ -> KernelVersion.of(5, 9);
            case AttachTarget.Netfilter _ -> KernelVersion.of(6, 4);
            case AttachTarget.Tcx _ -> KernelVersion.of(6, 6);
            case AttachTarget.Netkit _ -> KernelVersion.of(6, 7);
            default -> null;
        };
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
