package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Freplace;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.Kprobe;
import io.bpf4j.loader.link.KprobeMulti;
import io.bpf4j.loader.link.Ksyscall;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netfilter;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.RawTracepoint;
import io.bpf4j.loader.link.Socket;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Tracing;
import io.bpf4j.loader.link.TracingMulti;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.loader.link.Xdp;
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
            case Uprobe uprobe -> row(PerfKind.of(uprobe, functions));
            case UprobeMulti uprobes -> row(new UprobeMultiKind(uprobes, functions));
            case Kprobe kprobe -> row(PerfKind.of(kprobe));
            case Ksyscall call -> row(PerfKind.of(call));
            case KprobeMulti kprobes -> row(new KprobeMultiKind(kprobes, TraceFs.of(host)));
            case Tracepoint tracepoint -> row(attempt -> PerfAttacher.tracepoint(attempt, tracepoint));
            case RawTracepoint raw -> row(TracingKind.of(raw));
            case Tracing tracing -> row(TracingKind.of(tracing));
            case TracingMulti many -> row(new TracingMultiKind(many, KernelBtf.of(host)::ofModule, TraceFs.of(host)));
            case Freplace freplace -> row(new TracingKind.Replacement(freplace));
            case PerfEvent event -> row(PerfKind.of(event));
            case OpenPerfEvent event -> row(PerfKind.of(event));
            case Cgroup cgroup ->
                cgroup.sharing().isPresent()
                        ? row(new CgroupKind.Unlinked(cgroup))
                        : row(new CgroupKind(cgroup)).since(5, 7);
            case Xdp xdp ->
                xdp.hasLink()
                        ? row(new XdpKind(xdp)).since(5, 9)
                        : row(new XdpKind.Unlinked(xdp)).since(5, 7);
            case Tc tc -> row(new TcKind(tc));
            case Socket socket -> row(new SocketKind(socket, host));
            case Tcx tcx -> row(DeviceKind.of(tcx)).since(6, 6);
            case Netkit netkit -> row(DeviceKind.of(netkit)).since(6, 7);
            case Netfilter netfilter -> row(new NetfilterKind(netfilter)).since(6, 4);
            case NetNamespace namespace -> row(new NetNamespaceKind(namespace)).since(5, 8);
            case Sockmap sockmap -> row(new SockmapKind(sockmap));
            case Iter iter -> row(new IterKind(iter)).since(5, 8);
            case Lirc lirc -> row(attempt -> ProgAttach.lirc(attempt, lirc));
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
