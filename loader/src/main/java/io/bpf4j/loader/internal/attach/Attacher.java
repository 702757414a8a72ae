package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.PerfSources;
import io.bpf4j.loader.internal.linux.TraceFs;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.PerfCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProbeSite;
import io.bpf4j.loader.link.ProbeSites;
import io.bpf4j.loader.link.ProcessFilter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/** Attaches programs to targets. <i>Thread-safe.</i> */
public final class Attacher {
    private final Kernel kernel;
    private final Features features;
    private final PerfSources sources;

    public Attacher(Kernel kernel, Features features) {
        this(kernel, features, PerfSources.running());
    }

    Attacher(Kernel kernel, Features features, PerfSources sources) {
        this.kernel = kernel;
        this.features = features;
        this.sources = sources;
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
        String what = name + " to " + target.description();
        try {
            return switch (target) {
                case AttachTarget.UprobeMulti uprobes -> uprobes(program, what, attachType, uprobes);
                case AttachTarget.Uprobe uprobe -> uprobe(program, what, attachType, uprobe);
                case AttachTarget.Kprobe kprobe -> kprobe(program, what, kprobe);
                case AttachTarget.Tracepoint tracepoint -> tracepoint(program, what, tracepoint);
                case AttachTarget.RawTracepoint raw -> rawTracepoint(program, what, raw.name());
                case AttachTarget.Tracing tracing -> rawTracepoint(program, what, "");
            };
        } catch (SyscallException e) {
            throw new AttachException("attach " + what + ": " + explained(e, target) + missing(e, attachType), e);
        }
    }

    /** The kernel's words, and for uprobes what usually stands behind them. */
    private static String explained(SyscallException failure, AttachTarget target) {
        String words = Objects.requireNonNullElse(failure.getMessage(), failure.call());
        if (!(target instanceof AttachTarget.UprobeMulti || target instanceof AttachTarget.Uprobe)) {
            return words;
        }
        return switch (failure.errno()) {
            case ESRCH -> words + "; the process is gone";
            case EINVAL ->
                words + "; an offset is not the start of an instruction that can be probed, or its semaphore is not"
                        + " where the site says";
            default -> words;
        };
    }

    /** The kernel says EINVAL to what it doesn't know; only then is it worth asking whether it knows this. */
    private String missing(SyscallException failure, Optional<AttachType> attachType) {
        if (failure.errno() != Errno.EINVAL || attachType.isEmpty()) {
            return "";
        }
        return switch (attachType.get()) {
            case TRACE_UPROBE_MULTI -> missing(Feature.UPROBE_MULTI_LINK);
            case TRACE_UPROBE_SESSION -> missing(Feature.UPROBE_SESSION);
            case TRACE_KPROBE_MULTI -> missing(Feature.KPROBE_MULTI_LINK);
            default -> "";
        };
    }

    private String missing(Feature feature) {
        return features.has(feature)
                ? ""
                : "; this kernel does not have " + feature.description() + " (requires Linux >= " + feature.since()
                        + ")";
    }

    private Link uprobes(Fd program, String what, Optional<AttachType> attachType, AttachTarget.UprobeMulti target) {
        if (attachType
                .filter(t -> t == AttachType.TRACE_UPROBE_MULTI || t == AttachType.TRACE_UPROBE_SESSION)
                .isEmpty()) {
            throw new AttachException("attach " + what + ": the program was loaded for single uprobes;"
                    + " SEC(\"uprobe.multi\") makes one for many");
        }
        ProbeSites sites = target.sites();
        if (sites.size() == 0) {
            throw new AttachException("attach " + what + ": there is no site to attach to");
        }
        Path path = target.file().path();
        OptionalInt descriptor = HeldFile.descriptor(path);
        boolean byDescriptor = descriptor.isPresent() && features.has(Feature.UPROBE_MULTI_DESCRIPTOR);
        LinkCommand.Details.UprobeMulti details = new LinkCommand.Details.UprobeMulti(
                byDescriptor ? "" : path.toString(),
                byDescriptor ? descriptor : OptionalInt.empty(),
                sites.fileOffsets(),
                sites.refCounterOffsets(),
                sites.cookies(),
                target.process().pidOrZero(),
                target.returns(),
                0);
        Fd link = kernel.execute(
                LinkCommand.Create.of(what, program, attachType.orElseThrow().number(), details));
        return new KernelLink(what, List.of(link));
    }

    private Link uprobe(Fd program, String what, Optional<AttachType> attachType, AttachTarget.Uprobe target) {
        if (attachType.filter(t -> t == AttachType.TRACE_UPROBE_MULTI).isPresent()) {
            throw new AttachException("attach " + what + ": the program was loaded for a link of many uprobes, which"
                    + " the kernel fixes at load; SEC(\"uprobe\") makes one for single uprobes");
        }
        ProbeSite site = target.site();
        int type = sources.uprobeType()
                .orElseThrow(() -> new AttachException(
                        "attach " + what + ": this kernel has no uprobes (CONFIG_UPROBES, Linux >= 4.17)"));
        long config = target.returns() ? bit(sources.uprobeReturnBit(), what, "return probes") : 0;
        if (site.refCounterOffset() != 0) {
            OptionalInt shift = sources.refCounterShift();
            if (shift.isEmpty()) {
                throw new AttachException("attach " + what + ": the site has a semaphore, which the kernel counts only"
                        + " from Linux 4.20 on");
            }
            if (site.refCounterOffset() >>> 32 != 0) {
                throw new AttachException("attach " + what + ": semaphore at file offset 0x"
                        + Long.toHexString(site.refCounterOffset()) + ", where 32 bits are possible");
            }
            config |= site.refCounterOffset() << shift.getAsInt();
        }
        int pid = target.process() instanceof ProcessFilter.Any
                ? -1
                : target.process().pidOrZero();
        PerfCommand.Open open = PerfCommand.Open.probe(
                what, type, config, target.file().path().toString(), site.fileOffset(), pid, pid == -1 ? 0 : -1);
        return perfLink(program, what, kernel.execute(open), site.cookie());
    }

    private static long bit(OptionalInt bit, String what, String of) {
        return 1L << bit.orElseThrow(() -> new AttachException("attach " + what + ": this kernel has no " + of));
    }

    private Link kprobe(Fd program, String what, AttachTarget.Kprobe target) {
        int type = sources.kprobeType()
                .orElseThrow(() -> new AttachException(
                        "attach " + what + ": this kernel has no kprobes (CONFIG_KPROBES, Linux >= 4.17)"));
        long config = target.returns() ? bit(sources.kprobeReturnBit(), what, "return probes") : 0;
        PerfCommand.Open open = PerfCommand.Open.probe(what, type, config, target.function(), target.offset(), -1, 0);
        return perfLink(program, what, kernel.execute(open), 0);
    }

    private Link tracepoint(Fd program, String what, AttachTarget.Tracepoint target) {
        long id = new TraceFs(kernel).tracepointId(target.category(), target.name());
        return perfLink(program, what, kernel.execute(PerfCommand.Open.tracepoint(what, id, -1, 0)), 0);
    }

    /** A program on a perf event: through a link where the kernel has it (5.15), else by ioctl. Owns the event. */
    private Link perfLink(Fd program, String what, Fd event, long cookie) {
        try {
            if (features.has(Feature.PERF_LINK)) {
                Fd link = kernel.execute(LinkCommand.Create.of(
                                what,
                                program,
                                AttachType.PERF_EVENT.number(),
                                new LinkCommand.Details.PerfEvent(cookie))
                        .withTarget(event));
                try {
                    kernel.execute(new PerfCommand.Enable(event));
                } catch (RuntimeException e) {
                    link.close();
                    throw e;
                }
                return new KernelLink(what, List.of(link, event));
            }
            if (cookie != 0) {
                features.require(Feature.BPF_COOKIE, "attach " + what + " with a cookie");
            }
            kernel.execute(new PerfCommand.SetProgram(event, program));
            kernel.execute(new PerfCommand.Enable(event));
            return new KernelLink(what, List.of(event));
        } catch (RuntimeException e) {
            event.close();
            throw e;
        }
    }

    private Link rawTracepoint(Fd program, String what, String name) {
        return new KernelLink(what, List.of(kernel.execute(new LinkCommand.OpenRawTracepoint(name, program, 0))));
    }
}
