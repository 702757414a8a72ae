package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.loader.link.TargetFile;
import io.bpf4j.loader.link.UprobeMulti;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.RawLinkInfo;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * Many uprobes in a file by one link; the program was loaded for its attach type.
 *
 * <p>Tested by {@code AttacherTest} and {@code LinksTest}.
 */
record UprobeMultiKind(UprobeMulti target, FunctionSites functions) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of(
            "bpf_link_info.uprobe_multi",
            "u64 path, offsets, ref_ctr_offsets, cookies; u32 path_size, count, flags, pid");

    static final LinkView VIEW = LinkView.of(
                    12 /* BPF_LINK_TYPE_UPROBE_MULTI */,
                    info -> new LinkDetail.UprobeMulti(
                            info.text(),
                            info.u32(INFO, "count"),
                            info.u32(INFO, "flags"),
                            Struct.unlessZero(info.u32(INFO, "pid"))))
            .withText(_ -> new RawLinkInfo.TextField(INFO, "path", "path_size"))
            .withSites(new RawLinkInfo.SiteFields(INFO, List.of("offsets", "ref_ctr_offsets", "cookies"), "count"));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.multiType(target.returns(), "uprobe");
        return target.functions().isEmpty()
                ? link(request, type, target.file(), target.offsets())
                : byNames(request, type, target.semaphores().length == 0 && target.cookies().length == 0);
    }

    @Override
    public String refusal(Errno errno) {
        return refusalOfUprobe(errno);
    }

    static String refusalOfUprobe(Errno errno) {
        return switch (errno) {
            case ESRCH -> "; the process has ended";
            case EINVAL ->
                "; an offset is not the start of an instruction that can be probed, or its semaphore is not at the"
                        + " given offset";
            // arch_uprobe_analyze_insn and prepare_uprobe of the kernel.
            case ENOTSUPP, ENOEXEC ->
                "; the kernel can't probe the instruction there: it is a breakpoint, has a lock prefix, or the kernel"
                        + " does not know it";
            default -> "";
        };
    }

    /** Attaches to all functions that match, or to one for each name. */
    private Link byNames(AttachRequest request, AttachType type, boolean all) {
        Path path = target.file().path();
        FunctionSites.Sites sites = all
                ? functions.matching(request.description(), path, target.functions())
                : functions.each(request.description(), path, target.functions());
        try (OpenFile file = sites.open(request)) {
            Link link = link(request, type, file, sites.offsets());
            return UndoStack.closing(link, link::close, file::close);
        } catch (AttachException e) {
            if (e.site().isEmpty()) {
                throw e;
            }
            String name = sites.names().get(e.site().getAsInt());
            throw new AttachException(
                    e.getMessage() + "; it is function \"" + name + "\""
                            + (all ? ": try a pattern that does not match it" : ""),
                    e.getCause(),
                    e.site().getAsInt());
        }
    }

    private Link link(AttachRequest request, AttachType type, TargetFile file, long[] offsets) {
        if (offsets.length == 0) {
            throw request.refused("there is no site to attach to");
        }
        if (target.pid().isPresent()) {
            // Without this feature the pid means one thread: the events of all other threads would be missing.
            request.features().require(Feature.UPROBE_MULTI_PROCESS, "attach " + request.description());
        }
        OptionalInt descriptor =
                file instanceof OpenFile open && request.features().has(Feature.UPROBE_MULTI_DESCRIPTOR)
                        ? OptionalInt.of(open.descriptor())
                        : OptionalInt.empty();
        LinkCommand.Details.UprobeMulti details = new LinkCommand.Details.UprobeMulti(
                descriptor.isPresent() ? "" : file.path().toString(),
                descriptor,
                offsets,
                target.semaphores(),
                target.cookies(),
                target.pid().orElse(0),
                target.returns(),
                0);
        try {
            return request.link(request.create(type, details));
        } catch (SyscallException e) {
            OptionalInt site = BadSite.find(request, details, e);
            if (site.isEmpty()) {
                throw e;
            }
            int index = site.getAsInt();
            throw new AttachException(
                    "attach " + request.description() + ": site " + (index + 1) + " of " + offsets.length
                            + ", at file offset 0x" + Long.toHexString(offsets[index]) + ": " + e.getMessage()
                            + refusalOfUprobe(e.errno()),
                    e,
                    index);
        }
    }
}
