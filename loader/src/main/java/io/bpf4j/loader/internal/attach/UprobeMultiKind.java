package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.LinkInfo;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.Feature;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachTarget.UprobeMultiNamed;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.ProbeSites;
import io.bpf4j.loader.link.ProcessFilter;
import io.bpf4j.loader.link.TargetFile;
import java.util.OptionalInt;
import java.util.function.Function;

/** Many uprobes in a file by one link; the program was loaded for its attach type. */
record UprobeMultiKind(Function<Attempt, Link> attaching) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of(
            "bpf_link_info.uprobe_multi",
            "u64 path",
            "u64 offsets",
            "u64 ref_ctr_offsets",
            "u64 cookies",
            "u32 path_size",
            "u32 count",
            "u32 flags",
            "u32 pid");

    static final LinkView VIEW = LinkView.of(
                    12 /* BPF_LINK_TYPE_UPROBE_MULTI */,
                    info -> new LinkDetail.UprobeMulti(
                            info.text(), info.u32(INFO, "count"), info.u32(INFO, "flags"), info.u32(INFO, "pid")))
            .withText(_ -> new LinkInfo.TextField(INFO, "path", "path_size"));

    static LinkKind of(AttachTarget.UprobeMulti target) {
        return new UprobeMultiKind(
                attempt -> link(attempt, target.file(), target.sites(), target.process(), target.returns()));
    }

    static LinkKind of(AttachTarget.UprobeMultiFunctions target, FunctionSites functions) {
        return new UprobeMultiKind(attempt -> {
            requireMulti(attempt, target.returns());
            FunctionSites.Places places = functions.matching(attempt.what(), target.file(), target.pattern());
            ProbeSites sites = ProbeSites.columns(places.offsets(), new long[0], new long[0]);
            String advice = ": a pattern that leaves it out may do";
            return link(attempt, places, sites, target.process(), target.returns(), advice);
        });
    }

    static LinkKind of(AttachTarget.UprobeMultiNamed target, FunctionSites functions) {
        return new UprobeMultiKind(attempt -> {
            requireMulti(attempt, target.returns());
            FunctionSites.Places places = functions.each(
                    attempt.what(),
                    target.file(),
                    target.functions().stream()
                            .map(UprobeMultiNamed.Function::name)
                            .toList());
            ProbeSites sites = ProbeSites.columns(
                    places.offsets(),
                    target.functions().stream()
                            .mapToLong(UprobeMultiNamed.Function::refCounterOffset)
                            .toArray(),
                    target.functions().stream()
                            .mapToLong(UprobeMultiNamed.Function::cookie)
                            .toArray());
            return link(attempt, places, sites, target.process(), target.returns(), "");
        });
    }

    @Override
    public Link attach(Attempt attempt) {
        return attaching.apply(attempt);
    }

    @Override
    public String refusal(Errno errno) {
        return refusalOfUprobe(errno);
    }

    static String refusalOfUprobe(Errno errno) {
        return switch (errno) {
            case ESRCH -> "; the process is gone";
            case EINVAL ->
                "; an offset is not the start of an instruction that can be probed, or its semaphore is not where the"
                        + " site says";
            default -> "";
        };
    }

    private static Link link(
            Attempt attempt,
            FunctionSites.Places places,
            ProbeSites sites,
            ProcessFilter process,
            boolean returns,
            String advice) {
        try (OpenFile file = places.open(attempt)) {
            return link(attempt, file, sites, process, returns);
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

    private static void requireMulti(Attempt attempt, boolean returns) {
        boolean session = attempt.isFor(AttachType.TRACE_UPROBE_SESSION);
        if (!session && !attempt.isFor(AttachType.TRACE_UPROBE_MULTI)) {
            throw attempt.refused(
                    "the program was loaded for single uprobes; SEC(\"uprobe.multi\") makes one for many");
        }
        if (session && returns) {
            throw attempt.refused("a session program fires on entry and on return; it can't be for returns alone");
        }
    }

    private static Link link(
            Attempt attempt, TargetFile file, ProbeSites sites, ProcessFilter process, boolean returns) {
        requireMulti(attempt, returns);
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
            return attempt.link(attempt.create(attempt.attachType().orElseThrow(), details));
        } catch (SyscallException e) {
            OptionalInt site = BadSite.find(attempt, details, e);
            if (site.isEmpty()) {
                throw e;
            }
            int index = site.getAsInt();
            throw new AttachException(
                    "attach " + attempt.what() + ": site " + (index + 1) + " of " + sites.size() + ", at file offset 0x"
                            + Long.toHexString(sites.get(index).fileOffset()) + ": " + e.getMessage()
                            + refusalOfUprobe(e.errno()),
                    e,
                    index);
        }
    }
}
