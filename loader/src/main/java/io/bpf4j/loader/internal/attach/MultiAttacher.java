package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.linux.TraceFs;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.ProbeSites;
import io.bpf4j.loader.link.ProcessFilter;
import io.bpf4j.loader.link.TargetFile;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/** Attaches one program to many functions by one link, whose type the program was loaded for. */
final class MultiAttacher {
    private MultiAttacher() {}

    static void requireMultiUprobe(Attempt attempt, boolean returns) {
        boolean session = attempt.isFor(AttachType.TRACE_UPROBE_SESSION);
        if (!session && !attempt.isFor(AttachType.TRACE_UPROBE_MULTI)) {
            throw attempt.refused(
                    "the program was loaded for single uprobes; SEC(\"uprobe.multi\") makes one for many");
        }
        if (session && returns) {
            throw attempt.refused("a session program fires on entry and on return; it can't be for returns alone");
        }
    }

    static Link uprobes(Attempt attempt, TargetFile file, ProbeSites sites, ProcessFilter process, boolean returns) {
        requireMultiUprobe(attempt, returns);
        if (sites.size() == 0) {
            throw attempt.refused("there is no site to attach to");
        }
        OptionalInt descriptor =
                file instanceof OpenFile open && attempt.features().has(Feature.UPROBE_MULTI_DESCRIPTOR)
                        ? OptionalInt.of(open.descriptor())
                        : OptionalInt.empty();
        LinkCommand.Details.UprobeMulti details = new LinkCommand.Details.UprobeMulti(
                descriptor.isPresent() ? "" : file.path().toString(),
                descriptor,
                sites.fileOffsets(),
                sites.refCounterOffsets(),
                sites.cookies(),
                process.pidOrZero(),
                returns,
                0);
        try {
            return KernelLink.of(
                    attempt, attempt.execute(attempt.create(attempt.attachType().orElseThrow(), details)));
        } catch (SyscallException e) {
            OptionalInt site = BadSite.find(attempt, details, e);
            if (site.isEmpty()) {
                throw e;
            }
            int index = site.getAsInt();
            throw new AttachException(
                    "attach " + attempt.what() + ": site " + (index + 1) + " of " + sites.size() + ", at file offset 0x"
                            + Long.toHexString(sites.get(index).fileOffset()) + ": " + e.getMessage()
                            + Refusals.uprobe(e.errno()),
                    e,
                    index);
        }
    }

    static Link kprobes(Attempt attempt, AttachTarget.KprobeMulti target, TraceFs traceFs) {
        boolean session = attempt.isFor(AttachType.TRACE_KPROBE_SESSION);
        if (!session && !attempt.isFor(AttachType.TRACE_KPROBE_MULTI)) {
            throw attempt.refused(
                    "the program was loaded for single kprobes; SEC(\"kprobe.multi\") makes one for many");
        }
        if (session && target.returns()) {
            throw attempt.refused("a session program fires on entry and on return; it can't be for returns alone");
        }
        List<NamePattern> patterns =
                target.functions().stream().map(NamePattern::new).toList();
        boolean wild = patterns.stream().anyMatch(NamePattern::isWild);
        if (wild && !target.cookies().isEmpty()) {
            throw attempt.refused("a pattern stands for any number of functions, so there can't be a cookie for each");
        }
        // The names that come from tracefs exist; those that were given are for the kernel to find.
        Set<String> functions = new LinkedHashSet<>(target.functions());
        if (wild) {
            functions.removeIf(f -> new NamePattern(f).isWild());
            functions.addAll(traceFs.traceableFunctions(f -> patterns.stream().anyMatch(p -> p.matches(f))));
        }
        if (functions.isEmpty()) {
            throw attempt.refused("this kernel has no function of such a name that can be traced");
        }
        if (functions.size() != target.functions().size() && !target.cookies().isEmpty()) {
            throw attempt.refused("a function is named twice");
        }
        LinkCommand.Details details = new LinkCommand.Details.KprobeMulti(
                new long[0],
                List.copyOf(functions),
                target.cookies().stream().mapToLong(Long::longValue).toArray(),
                target.returns());
        return KernelLink.of(
                attempt, attempt.execute(attempt.create(attempt.attachType().orElseThrow(), details)));
    }
}
