package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachTarget.UprobeMultiNamed;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.ProbeSite;
import io.bpf4j.loader.link.ProbeSites;
import io.bpf4j.loader.link.ProcessFilter;
import java.util.Optional;

/** Attaches programs to targets: says which attacher does it, and explains what fails. <i>Thread-safe.</i> */
public final class Attacher {
    private final Host host;
    private final Features features;
    private final PerfAttacher perf;
    private final FunctionSites functions;

    public Attacher(Host host, Features features) {
        this(host, features, DebugFiles.standard());
    }

    Attacher(Host host, Features features, DebugFiles debugFiles) {
        this.host = host;
        this.features = features;
        this.perf = new PerfAttacher(host.perfSources());
        this.functions = new FunctionSites(debugFiles);
    }

    /**
     * Attaches.
     *
     * @param program stays the caller's; the kernel holds it for the link
     * @param name of the program, for messages
     * @param attachType what the program was loaded for
     * @throws AttachException if it can't; nothing is left attached
     */
    public Link attach(Fd program, String name, Optional<AttachType> attachType, AttachTarget target) {
        Attempt attempt = Attempt.of(host, features, program, name, attachType, target);
        try {
            return switch (target) {
                case AttachTarget.Uprobe uprobe ->
                    perf.uprobe(attempt, uprobe.file(), uprobe.site(), uprobe.process(), uprobe.returns());
                case AttachTarget.UprobeFunction uprobe -> uprobe(attempt, uprobe);
                case AttachTarget.UprobeMulti uprobes ->
                    MultiAttacher.uprobes(
                            attempt, uprobes.file(), uprobes.sites(), uprobes.process(), uprobes.returns());
                case AttachTarget.UprobeMultiFunctions uprobes -> matching(attempt, uprobes);
                case AttachTarget.UprobeMultiNamed uprobes -> named(attempt, uprobes);
                case AttachTarget.Kprobe kprobe ->
                    perf.kprobe(attempt, kprobe.function(), kprobe.offset(), kprobe.returns(), kprobe.cookie());
                case AttachTarget.Ksyscall call ->
                    perf.kprobe(attempt, systemCall(attempt, call.name()), 0, call.returns(), call.cookie());
                case AttachTarget.KprobeMulti kprobes -> MultiAttacher.kprobes(attempt, kprobes, host.traceFs());
                case AttachTarget.Tracepoint tracepoint -> perf.tracepoint(attempt, tracepoint);
                case AttachTarget.RawTracepoint raw -> TracingAttacher.rawTracepoint(attempt, raw);
                case AttachTarget.Tracing tracing -> TracingAttacher.tracing(attempt, tracing);
                case AttachTarget.TracingMulti many ->
                    TracingMultiAttacher.attach(attempt, many, host.types()::ofModule, host.traceFs());
                case AttachTarget.Freplace freplace -> TracingAttacher.freplace(attempt, freplace);
                case AttachTarget.PerfEvent event -> perf.event(attempt, event);
                case AttachTarget.OpenPerfEvent event -> perf.openEvent(attempt, event);
                case AttachTarget.Cgroup cgroup -> NetworkAttacher.cgroup(attempt, cgroup);
                case AttachTarget.Xdp xdp -> NetworkAttacher.xdp(attempt, xdp);
                case AttachTarget.Tcx tcx -> NetworkAttacher.tcx(attempt, tcx);
                case AttachTarget.Netkit netkit -> NetworkAttacher.netkit(attempt, netkit);
                case AttachTarget.Netfilter netfilter -> NetworkAttacher.netfilter(attempt, netfilter);
                case AttachTarget.NetNamespace namespace -> NetworkAttacher.namespace(attempt, namespace);
                case AttachTarget.Sockmap sockmap -> NetworkAttacher.sockmap(attempt, sockmap);
                case AttachTarget.Iter iter -> IterAttacher.attach(attempt, iter.over());
                case AttachTarget.Lirc lirc -> NetworkAttacher.lirc(attempt, lirc);
            };
        } catch (SyscallException e) {
            throw new AttachException("attach " + attempt.what() + ": " + Refusals.explained(e, attempt, target), e);
        }
    }

    private Link uprobe(Attempt attempt, AttachTarget.UprobeFunction target) {
        FunctionSites.Places place = functions.one(attempt.what(), target.file(), target.function(), target.offset());
        ProbeSite site = new ProbeSite(place.offsets()[0], 0, target.cookie());
        try (OpenFile file = sameFile(attempt, place)) {
            return perf.uprobe(attempt, file, site, target.process(), target.returns());
        }
    }

    private Link matching(Attempt attempt, AttachTarget.UprobeMultiFunctions target) {
        MultiAttacher.requireMultiUprobe(attempt, target.returns());
        FunctionSites.Places places = functions.matching(attempt.what(), target.file(), target.pattern());
        return uprobes(
                attempt,
                places,
                ProbeSites.columns(places.offsets(), new long[0], new long[0]),
                target.process(),
                target.returns(),
                ": a pattern that leaves it out may do");
    }

    private Link named(Attempt attempt, AttachTarget.UprobeMultiNamed target) {
        MultiAttacher.requireMultiUprobe(attempt, target.returns());
        FunctionSites.Places places = functions.each(
                attempt.what(),
                target.file(),
                target.functions().stream().map(UprobeMultiNamed.Function::name).toList());
        ProbeSites sites = ProbeSites.columns(
                places.offsets(),
                target.functions().stream()
                        .mapToLong(UprobeMultiNamed.Function::refCounterOffset)
                        .toArray(),
                target.functions().stream()
                        .mapToLong(UprobeMultiNamed.Function::cookie)
                        .toArray());
        return uprobes(attempt, places, sites, target.process(), target.returns(), "");
    }

    private static Link uprobes(
            Attempt attempt,
            FunctionSites.Places places,
            ProbeSites sites,
            ProcessFilter process,
            boolean returns,
            String advice) {
        try (OpenFile file = sameFile(attempt, places)) {
            return MultiAttacher.uprobes(attempt, file, sites, process, returns);
        } catch (AttachException e) {
            if (e.site().isEmpty()) {
                throw e;
            }
            String name = places.names().get(e.site().getAsInt());
            throw new AttachException(
                    e.getMessage() + "; it is function \"" + name + "\"" + advice,
                    e.getCause(),
                    e.site().getAsInt());
        }
    }

    /** The file whose symbols were read, open: offsets of one file mean nothing in another that has taken its place. */
    private static OpenFile sameFile(Attempt attempt, FunctionSites.Places places) {
        OpenFile file =
                OpenFile.open(attempt.host(), places.file(), places.file().toString());
        if (!file.identity().equals(places.identity())) {
            file.close();
            throw attempt.refused(places.file() + " was replaced or written while its symbols were read; try again");
        }
        return file;
    }

    /**
     * The function that serves a system call. Where calls go through a wrapper with pt_regs (4.17), it has the name of the
     * architecture in it (SYSCALL_DEFINE in arch/*&#47;include/asm/syscall_wrapper.h); powerpc and loongarch have none.
     */
    private String systemCall(Attempt attempt, String name) {
        String os = System.getProperty("os.arch", "");
        if (features.lacks(Feature.SYSCALL_WRAPPER)) {
            return "__se_sys_" + name;
        }
        return switch (os) {
            case "amd64", "x86_64" -> "__x64_sys_" + name;
            case "aarch64" -> "__arm64_sys_" + name;
            case "s390x" -> "__s390x_sys_" + name;
            case "riscv64" -> "__riscv_sys_" + name;
            default -> throw attempt.refused("it is not known how system calls are wrapped on " + os);
        };
    }
}
