package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.tracefs.TraceFs;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenPerfEvent;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.Tracepoint;
import io.bpf4j.loader.link.Uprobe;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.internal.linux.PerfSources;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.util.Locale;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Attaches through perf events: single uprobes and kprobes, tracepoints, and hardware and software events. The event is
 * opened for the link and closed with it.
 *
 * <p>Tested by {@code AttacherTest} and {@code KernelLinkTest}.
 */
final class PerfAttacher {
    private PerfAttacher() {}

    /** Attaches at an offset in a file, in bytes; the other properties are those of the target. */
    static Link uprobe(AttachRequest request, TargetFile file, long offset, Uprobe target) {
        request.requireSingle("uprobe");
        int type = type(request, PerfSources.UPROBE, Feature.PERF_UPROBE);
        long config = returnBit(request, PerfSources.UPROBE, target.returns());
        if (target.semaphore() != 0) {
            OptionalInt shift = PerfSources.of(request.host()).firstBit(PerfSources.UPROBE, "ref_ctr_offset");
            if (shift.isEmpty()) {
                throw request.refused("the site has a semaphore, which the kernel supports only from Linux 4.20 on");
            }
            if (target.semaphore() >>> 32 != 0) {
                throw request.refused("the file offset of the semaphore, 0x" + Long.toHexString(target.semaphore())
                        + ", does not fit in 32 bits");
            }
            config |= target.semaphore() << shift.getAsInt();
        }
        String path = file.path().toString();
        int pid = target.pid().orElse(-1);
        int cpu = target.pid().isPresent() ? -1 : 0;
        return link(
                request,
                PerfCommand.Open.probe(request.description(), type, config, path, offset, pid, cpu),
                target.cookie());
    }

    /**
     * A probe of a kernel function.
     *
     * @param function null if {@code offset} is an address: the kernel has one field for both (kprobe_addr)
     */
    static Link kprobe(AttachRequest request, @Nullable String function, long offset, boolean returns, long cookie) {
        request.requireSingle("kprobe");
        int type = type(request, PerfSources.KPROBE, Feature.PERF_KPROBE);
        long config = returnBit(request, PerfSources.KPROBE, returns);
        return link(
                request, PerfCommand.Open.probe(request.description(), type, config, function, offset, -1, 0), cookie);
    }

    /** The type number of a source of events. If sysfs is missing, the kernel may have the source nevertheless. */
    private static int type(AttachRequest request, String source, Feature feature) {
        return PerfSources.of(request.host())
                .type(source)
                .orElseThrow(() -> request.refused(
                        request.features().support(feature) instanceof Support.Unknown unknown
                                ? unknown.reason()
                                : "this kernel has no " + source + "s (CONFIG_" + source.toUpperCase(Locale.ROOT)
                                        + "_EVENTS, Linux >= 4.17)"));
    }

    /** The bit of the config that makes a probe fire on return; 0 for a probe on entry. */
    private static long returnBit(AttachRequest request, String source, boolean returns) {
        if (!returns) {
            return 0;
        }
        OptionalInt bit = PerfSources.of(request.host()).firstBit(source, "retprobe");
        return 1L << bit.orElseThrow(() -> request.refused("this kernel has no return probes"));
    }

    static Link tracepoint(AttachRequest request, Tracepoint target) {
        long id = TraceFs.of(request.host()).tracepointId(target.category(), target.name());
        return link(request, PerfCommand.Open.tracepoint(request.description(), id, -1, 0), target.cookie());
    }

    /** One event if a CPU or a thread is given, else one for each CPU that is online. */
    static Link event(AttachRequest request, PerfEvent target) {
        if (target.cpu().isPresent() || target.tid().isPresent()) {
            return link(request, opening(request, target, target.cpu().orElse(-1)), target.cookie());
        }
        LinkGroup links = LinkGroup.inParallel(request.description());
        try {
            for (int cpu : CpuSet.online(request.host()).numbers().toArray()) {
                Fd event;
                try {
                    event = request.execute(opening(request, target, cpu));
                } catch (SyscallException e) {
                    if (e.errno() != Errno.ENODEV) {
                        throw e;
                    }
                    continue; // the CPU went offline in the meantime
                }
                links.add(link(request, event, target.cookie()));
            }
            if (links.size() == 0) {
                throw request.refused("no CPU is online");
            }
        } catch (RuntimeException | Error e) {
            links.closeAfter(e);
            throw e;
        }
        return links.size() == 1 ? links.links().getFirst() : links;
    }

    private static PerfCommand.Open opening(AttachRequest request, PerfEvent target, int cpu) {
        return PerfCommand.Open.sampling(
                request.description(),
                target.type(),
                target.config(),
                target.period(),
                target.isPerSecond(),
                target.tid().orElse(-1),
                cpu,
                target.breakpoint()
                        .map(memory -> new PerfCommand.Open.Breakpoint(
                                memory.access().number(), memory.address(), memory.length()))
                        .orElse(null),
                target.isInherited());
    }

    static Link openEvent(AttachRequest request, OpenPerfEvent target) {
        return link(request, new FileCommand.Duplicate(target.descriptor(), target.description()), target.cookie());
    }

    /** A program on a perf event: through a link if the kernel has perf links (5.15), else by ioctl. */
    private static Link link(AttachRequest request, Command<Fd> opening, long cookie) {
        return link(request, request.execute(opening), cookie);
    }

    /** The same for an event that is open. Takes ownership of it. */
    private static Link link(AttachRequest request, Fd opened, long cookie) {
        return opened.ownedBy(event -> {
            if (!request.features().lacks(Feature.PERF_LINK)) {
                LinkCommand.Details details = new LinkCommand.Details.PerfEvent(cookie);
                return request.execute(
                                request.create(AttachType.PERF_EVENT, details).withTarget(event))
                        .ownedBy(link -> {
                            request.execute(new PerfCommand.Enable(event));
                            return KernelLink.of(request, link, event);
                        });
            }
            if (cookie != 0) {
                // The ioctl below has no field for a cookie, and would drop it silently.
                request.features().require(Feature.BPF_COOKIE, "attach " + request.description() + " with a cookie");
                request.features().require(Feature.PERF_LINK, "attach " + request.description() + " with a cookie");
            }
            request.execute(new PerfCommand.SetProgram(event, request.program()));
            request.execute(new PerfCommand.Enable(event));
            LinkGroup held = LinkGroup.inSequence(request.description());
            held.afterClose(event::close);
            return held;
        });
    }
}
