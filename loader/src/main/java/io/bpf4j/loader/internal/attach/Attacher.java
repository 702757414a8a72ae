package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.load.MissingFeature;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Attaches programs to targets, and explains failures. <i>Thread-safe.</i> */
public final class Attacher {
    private final Host host;
    private final Features features;
    private final FunctionSites functions;
    private final PerfAttacher perf;

    public Attacher(Host host, Features features) {
        this(host, features, DebugFiles.standard());
    }

    Attacher(Host host, Features features, DebugFiles debugFiles) {
        this.host = host;
        this.features = features;
        this.functions = new FunctionSites(debugFiles);
        this.perf = new PerfAttacher(host.perfSources(), functions);
    }

    /**
     * Attaches.
     *
     * @param program the caller closes it; the kernel holds it for the link
     * @param name of the program, for messages
     * @param attachType the attach type that the program was loaded for
     * @throws AttachException if the attach fails; nothing is left attached
     */
    public Link attach(Fd program, String name, Optional<AttachType> attachType, AttachTarget target) {
        Attempt attempt = Attempt.of(host, features, program, name, attachType, target);
        try {
            return link(attempt, target);
        } catch (SyscallException e) {
            throw new AttachException("attach " + attempt.what() + ": " + explained(e, attempt, target), e);
        }
    }

    private Link link(Attempt attempt, AttachTarget target) {
        return switch (target) {
            case AttachTarget.Uprobe uprobe -> perf.uprobe(attempt, uprobe);
            case AttachTarget.UprobeMulti uprobes -> new UprobeMultiKind(uprobes, functions).attach(attempt);
            case AttachTarget.Kprobe kprobe -> perf.kprobe(attempt, kprobe);
            case AttachTarget.Ksyscall call -> perf.ksyscall(attempt, call);
            case AttachTarget.KprobeMulti kprobes -> new KprobeMultiKind(kprobes, host.traceFs()).attach(attempt);
            case AttachTarget.Tracepoint tracepoint -> perf.tracepoint(attempt, tracepoint);
            case AttachTarget.RawTracepoint raw -> TracingKind.raw(attempt, raw);
            case AttachTarget.Tracing tracing -> TracingKind.asLoaded(attempt, tracing);
            case AttachTarget.TracingMulti many ->
                new TracingMultiKind(many, host.types()::ofModule, host.traceFs()).attach(attempt);
            case AttachTarget.Freplace freplace -> TracingKind.freplace(attempt, freplace);
            case AttachTarget.PerfEvent event -> perf.event(attempt, event);
            case AttachTarget.OpenPerfEvent event -> perf.openEvent(attempt, event);
            case AttachTarget.Cgroup cgroup -> Hooks.cgroup(attempt, cgroup);
            case AttachTarget.Xdp xdp -> Hooks.xdp(attempt, xdp);
            case AttachTarget.Tcx tcx -> Hooks.tcx(attempt, tcx);
            case AttachTarget.Netkit netkit -> Hooks.netkit(attempt, netkit);
            case AttachTarget.Netfilter netfilter -> Hooks.netfilter(attempt, netfilter);
            case AttachTarget.NetNamespace namespace -> Hooks.netNamespace(attempt, namespace);
            case AttachTarget.Sockmap sockmap -> Hooks.sockmap(attempt, sockmap);
            case AttachTarget.Iter iter -> new IterKind(iter).attach(attempt);
            case AttachTarget.Lirc lirc -> Unlinked.lirc(attempt, lirc);
        };
    }

    /** The kernel's error, and a known explanation. */
    private static String explained(SyscallException failure, Attempt attempt, AttachTarget target) {
        String words = Objects.requireNonNullElse(failure.getMessage(), failure.call());
        String why = words + Refusals.of(target, failure.errno());
        // The kernel returns EINVAL for what it doesn't know; only then a feature probe is worth its cost.
        return failure.errno() == Errno.EINVAL ? why + tooOld(Refusals.since(target), attempt) + missing(attempt) : why;
    }

    private static String tooOld(@Nullable KernelVersion needed, Attempt attempt) {
        KernelVersion running = attempt.host().version();
        return needed != null && running.compareTo(needed) < 0
                ? "; it needs Linux " + needed + ", and this is " + running
                : "";
    }

    private static String missing(Attempt attempt) {
        return attempt.attachType()
                .flatMap(MissingFeature::of)
                .filter(attempt.features()::lacks)
                .map(feature -> "; this kernel does not have " + feature.description() + " (requires Linux >= "
                        + feature.since() + ")")
                .orElse("");
    }
}
