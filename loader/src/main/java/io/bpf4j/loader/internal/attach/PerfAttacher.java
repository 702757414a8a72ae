package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.internal.linux.PerfSources;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.PerfCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.TargetFile;
import java.util.OptionalInt;

/**
 * Attaches through perf events: single uprobes and kprobes, tracepoints, and hardware and software events. The event is
 * opened for the link and closed with it. <i>Immutable.</i>
 *
 * <p>Tested by {@code AttacherTest} and {@code KernelLinkTest}.
 */
final class PerfAttacher {
    private final PerfSources sources;

    PerfAttacher(PerfSources sources) {
        this.sources = sources;
    }

    /** Attaches at an offset in a file, in bytes; all else is as the target says. */
    Link uprobe(Attempt attempt, TargetFile file, long offset, AttachTarget.Uprobe target) {
        if (attempt.isFor(AttachType.TRACE_UPROBE_MULTI) || attempt.isFor(AttachType.TRACE_UPROBE_SESSION)) {
            throw attempt.refused("the program was loaded for a link of many uprobes, which the kernel fixes at load;"
                    + " SEC(\"uprobe\") makes one for single uprobes");
        }
        int type = sources.uprobeType()
                .orElseThrow(() -> noSource(
                        attempt,
                        Feature.PERF_UPROBE,
                        "this kernel has no uprobes (CONFIG_UPROBE_EVENTS, Linux >= 4.17)"));
        long config = target.returns() ? returnBit(attempt, sources.uprobeReturnBit()) : 0;
        if (target.semaphore() != 0) {
            OptionalInt shift = sources.refCounterShift();
            if (shift.isEmpty()) {
                throw attempt.refused("the site has a semaphore, which the kernel counts only from Linux 4.20 on");
            }
            if (target.semaphore() >>> 32 != 0) {
                throw attempt.refused("semaphore at file offset 0x" + Long.toHexString(target.semaphore())
                        + ", where 32 bits are possible");
            }
            config |= target.semaphore() << shift.getAsInt();
        }
        boolean any = target.pid() == 0;
        return link(
                attempt,
                attempt.execute(PerfCommand.Open.probe(
                        attempt.what(),
                        type,
                        config,
                        file.path().toString(),
                        offset,
                        any ? -1 : target.pid(),
                        any ? 0 : -1)),
                target.cookie());
    }

    Link kprobe(Attempt attempt, String function, long offset, boolean returns, long cookie) {
        if (attempt.isFor(AttachType.TRACE_KPROBE_MULTI) || attempt.isFor(AttachType.TRACE_KPROBE_SESSION)) {
            throw attempt.refused("the program was loaded for a link of many kprobes, which the kernel fixes at load;"
                    + " SEC(\"kprobe\") makes one for single kprobes");
        }
        int type = sources.kprobeType()
                .orElseThrow(() -> noSource(
                        attempt,
                        Feature.PERF_KPROBE,
                        "this kernel has no kprobes (CONFIG_KPROBE_EVENTS, Linux >= 4.17)"));
        long config = returns ? returnBit(attempt, sources.kprobeReturnBit()) : 0;
        return link(
                attempt,
                attempt.execute(PerfCommand.Open.probe(attempt.what(), type, config, function, offset, -1, 0)),
                cookie);
    }

    /** A missing sysfs says nothing about the kernel. */
    private static RuntimeException noSource(Attempt attempt, Feature source, String missing) {
        return attempt.refused(
                attempt.features().support(source) instanceof Support.Unknown unknown ? unknown.reason() : missing);
    }

    Link tracepoint(Attempt attempt, AttachTarget.Tracepoint target) {
        long id = attempt.host().traceFs().tracepointId(target.category(), target.name());
        return link(attempt, attempt.execute(PerfCommand.Open.tracepoint(attempt.what(), id, -1, 0)), target.cookie());
    }

    /** One event if a CPU or a thread is given, else one for each CPU that is online. */
    Link event(Attempt attempt, AttachTarget.PerfEvent target) {
        if (target.cpu() >= 0 || target.tid() != 0) {
            return event(attempt, target, target.cpu());
        }
        LinkGroup links = LinkGroup.inParallel(attempt.what());
        try {
            for (int cpu : attempt.host().onlineCpus().numbers().toArray()) {
                try {
                    links.add(event(attempt, target, cpu));
                } catch (SyscallException e) {
                    if (e.errno() != Errno.ENODEV) {
                        throw e;
                    }
                    // It went offline meanwhile.
                }
            }
            if (links.size() == 0) {
                throw attempt.refused("no CPU is online");
            }
        } catch (RuntimeException e) {
            throw links.closeAfter(e);
        }
        return links.size() == 1 ? links.links().getFirst() : links;
    }

    private static Link event(Attempt attempt, AttachTarget.PerfEvent target, int cpu) {
        int pid = target.tid() == 0 ? -1 : target.tid();
        PerfCommand.Open open = PerfCommand.Open.sampling(
                attempt.what(), target.type(), target.config(), target.period(), target.isPerSecond(), pid, cpu);
        return link(attempt, attempt.execute(open), target.cookie());
    }

    Link openEvent(Attempt attempt, AttachTarget.OpenPerfEvent target) {
        return link(
                attempt,
                attempt.execute(new FileCommand.Duplicate(target.descriptor(), target.description())),
                target.cookie());
    }

    private static long returnBit(Attempt attempt, OptionalInt bit) {
        return 1L << bit.orElseThrow(() -> attempt.refused("this kernel has no return probes"));
    }

    /** A program on a perf event: through a link if the kernel has perf links (5.15), else by ioctl. Owns the event. */
    private static Link link(Attempt attempt, Fd event, long cookie) {
        try {
            if (!attempt.features().lacks(Feature.PERF_LINK)) {
                Fd link =
                        attempt.execute(attempt.create(AttachType.PERF_EVENT, new LinkCommand.Details.PerfEvent(cookie))
                                .withTarget(event));
                try {
                    attempt.execute(new PerfCommand.Enable(event));
                } catch (RuntimeException e) {
                    link.close();
                    throw e;
                }
                return KernelLink.of(attempt, link, event);
            }
            if (cookie != 0) {
                // The ioctl below has no field for a cookie, and would drop it silently.
                attempt.features().require(Feature.BPF_COOKIE, "attach " + attempt.what() + " with a cookie");
                attempt.features().require(Feature.PERF_LINK, "attach " + attempt.what() + " with a cookie");
            }
            attempt.execute(new PerfCommand.SetProgram(event, attempt.program()));
            attempt.execute(new PerfCommand.Enable(event));
            LinkGroup held = LinkGroup.inSequence(attempt.what());
            held.afterClose(event::close);
            return held;
        } catch (RuntimeException e) {
            event.close();
            throw e;
        }
    }
}
