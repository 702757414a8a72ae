package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.TargetFile;
import java.nio.file.Path;
import java.util.OptionalInt;

/**
 * Many uprobes in a file by one link; the program was loaded for its attach type.
 *
 * <p>Tested by {@code AttacherTest} and {@code LinksTest}.
 */
record UprobeMultiKind(AttachTarget.UprobeMulti target, FunctionSites functions) {
    Link attach(Attempt attempt) {
        AttachType type = attempt.many(
                AttachType.TRACE_UPROBE_MULTI, AttachType.TRACE_UPROBE_SESSION, target.returns(), "uprobe");
        return target.functions().isEmpty()
                ? link(attempt, type, target.file(), target.offsets())
                : byNames(attempt, type, target.semaphores().length == 0 && target.cookies().length == 0);
    }

    /** Attaches to all functions that match, or to one for each name. */
    private Link byNames(Attempt attempt, AttachType type, boolean all) {
        Path path = target.file().path();
        FunctionSites.Places places = all
                ? functions.matching(attempt.what(), path, target.functions())
                : functions.each(attempt.what(), path, target.functions());
        try (OpenFile file = places.open(attempt)) {
            return link(attempt, type, file, places.offsets());
        } catch (AttachException e) {
            if (e.site().isEmpty()) {
                throw e;
            }
            String name = places.names().get(e.site().getAsInt());
            throw new AttachException(
                    e.getMessage() + "; it is function \"" + name + "\""
                            + (all ? ": a pattern that leaves it out may do" : ""),
                    e.getCause(),
                    e.site().getAsInt());
        }
    }

    private Link link(Attempt attempt, AttachType type, TargetFile file, long[] offsets) {
        if (offsets.length == 0) {
            throw attempt.refused("there is no site to attach to");
        }
        OptionalInt descriptor =
                file instanceof OpenFile open && attempt.features().has(Feature.UPROBE_MULTI_DESCRIPTOR)
                        ? OptionalInt.of(open.descriptor())
                        : OptionalInt.empty();
        LinkCommand.Details.UprobeMulti details = new LinkCommand.Details.UprobeMulti(
                descriptor.isPresent() ? "" : file.path().toString(),
                descriptor,
                offsets,
                target.semaphores(),
                target.cookies(),
                target.pid(),
                target.returns(),
                0);
        try {
            return attempt.link(attempt.create(type, details));
        } catch (SyscallException e) {
            OptionalInt site = BadSite.find(attempt, details, e);
            if (site.isEmpty()) {
                throw e;
            }
            int index = site.getAsInt();
            throw new AttachException(
                    "attach " + attempt.what() + ": site " + (index + 1) + " of " + offsets.length
                            + ", at file offset 0x" + Long.toHexString(offsets[index]) + ": " + e.getMessage()
                            + Refusals.ofUprobe(e.errno()),
                    e,
                    index);
        }
    }
}
