package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.AttachTarget;
import org.jspecify.annotations.Nullable;

/**
 * All kinds of links: selects the code that attaches to a target. <i>Immutable.</i>
 *
 * <p>Tested by {@code AttacherTest}.
 */
final class LinkKinds {
    private final Host host;
    private final PerfAttacher perf;
    private final FunctionSites functions;

    LinkKinds(Host host, FunctionSites functions) {
        this.host = host;
        this.perf = new PerfAttacher(host.perfSources());
        this.functions = functions;
    }

    LinkKind of(AttachTarget target) {
        return switch (target) {
            case AttachTarget.Uprobe uprobe -> PerfKind.of(uprobe, perf, functions);
            case AttachTarget.UprobeMulti uprobes -> new UprobeMultiKind(uprobes, functions);
            case AttachTarget.Kprobe kprobe -> PerfKind.of(kprobe, perf);
            case AttachTarget.Ksyscall call -> PerfKind.of(call, perf);
            case AttachTarget.KprobeMulti kprobes -> new KprobeMultiKind(kprobes, host.traceFs());
            case AttachTarget.Tracepoint tracepoint -> attempt -> perf.tracepoint(attempt, tracepoint);
            case AttachTarget.RawTracepoint raw -> TracingKind.of(raw);
            case AttachTarget.Tracing tracing -> TracingKind.of(tracing);
            case AttachTarget.TracingMulti many -> new TracingMultiKind(many, host.types()::ofModule, host.traceFs());
            case AttachTarget.Freplace freplace -> new TracingKind.Freplace(freplace);
            case AttachTarget.PerfEvent event -> attempt -> perf.event(attempt, event);
            case AttachTarget.OpenPerfEvent event -> PerfKind.of(event, perf);
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

    /** The first kernel with such links, older kernels return EINVAL; null if another probe detects them. */
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
}
