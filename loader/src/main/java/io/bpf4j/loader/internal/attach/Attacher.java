package io.bpf4j.loader.internal.attach;

import io.bpf4j.elf.DebugFiles;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.internal.linux.PerfSources;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProbeSite;
import io.bpf4j.loader.link.ProbeSites;
import java.util.Optional;

/** Attaches programs to targets: says which attacher does it, and explains what fails. <i>Thread-safe.</i> */
public final class Attacher {
    private final Kernel kernel;
    private final Features features;
    private final PerfAttacher perf;
    private final FunctionSites functions;

    public Attacher(Kernel kernel, Features features) {
        this(kernel, features, PerfSources.running(), DebugFiles.standard());
    }

    Attacher(Kernel kernel, Features features, PerfSources sources, DebugFiles debugFiles) {
        this.kernel = kernel;
        this.features = features;
        this.perf = new PerfAttacher(sources);
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
        Attempt attempt = Attempt.of(kernel, features, program, name, attachType, target);
        try {
            return switch (target) {
                case AttachTarget.Uprobe uprobe ->
                    perf.uprobe(attempt, uprobe.file(), uprobe.site(), uprobe.process(), uprobe.returns());
                case AttachTarget.UprobeFunction uprobe -> uprobe(attempt, uprobe);
                case AttachTarget.UprobeMulti uprobes ->
                    MultiAttacher.uprobes(
                            attempt, uprobes.file(), uprobes.sites(), uprobes.process(), uprobes.returns());
                case AttachTarget.UprobeMultiFunctions uprobes -> uprobes(attempt, uprobes);
                case AttachTarget.Kprobe kprobe -> perf.kprobe(attempt, kprobe);
                case AttachTarget.Tracepoint tracepoint -> perf.tracepoint(attempt, tracepoint);
                case AttachTarget.RawTracepoint raw -> rawTracepoint(attempt, raw.name());
                case AttachTarget.Tracing _ -> rawTracepoint(attempt, "");
            };
        } catch (SyscallException e) {
            throw new AttachException(
                    "attach " + attempt.what() + ": " + Refusals.explained(e, target, attachType, features), e);
        }
    }

    private Link uprobe(Attempt attempt, AttachTarget.UprobeFunction target) {
        FunctionSites.Places place = functions.one(attempt.what(), target.file(), target.function(), target.offset());
        ProbeSite site = new ProbeSite(place.offsets()[0], 0, target.cookie());
        try (HeldFile file = sameFile(attempt, place)) {
            return perf.uprobe(attempt, file.target(), site, target.process(), target.returns());
        }
    }

    private Link uprobes(Attempt attempt, AttachTarget.UprobeMultiFunctions target) {
        MultiAttacher.requireMultiUprobe(attempt, target.returns());
        FunctionSites.Places places = functions.matching(attempt.what(), target.file(), target.pattern());
        ProbeSites sites = ProbeSites.columns(places.offsets(), new long[0], new long[0]);
        try (HeldFile file = sameFile(attempt, places)) {
            return MultiAttacher.uprobes(attempt, file.target(), sites, target.process(), target.returns());
        }
    }

    /** The file whose symbols were read, open: offsets of one file mean nothing in another that has taken its place. */
    private static HeldFile sameFile(Attempt attempt, FunctionSites.Places places) {
        HeldFile file =
                HeldFile.open(attempt.kernel(), places.file(), places.file().toString());
        if (!file.identity().equals(places.identity())) {
            file.close();
            throw attempt.refused(places.file() + " was replaced or written while its symbols were read; try again");
        }
        return file;
    }

    private static Link rawTracepoint(Attempt attempt, String name) {
        return KernelLink.of(attempt, attempt.execute(new LinkCommand.OpenRawTracepoint(name, attempt.program(), 0)));
    }
}
