package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.Errno;

/**
 * An anchor in the kernel's form: flags, and the program or link that it is relative to. <i>Immutable.</i>
 *
 * <p>The default anchor sets no field, so that kernels without an order for control groups (before 6.17) accept it.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record AnchorFields(int flags, LinkCommand.Details details) {
    /** The fields for tcx; those of netkit and cgroup are the same. An id stands in the field of a descriptor;
     * {@code expected_revision} 0 stands for any. */
    private static final StructLayout ORDER =
            StructLayout.of("bpf_attr.link_create.tcx", "u32 relative_fd; u64 expected_revision");

    /** BPF_F_BEFORE, BPF_F_AFTER, BPF_F_ID of include/uapi/linux/bpf.h; BPF_F_LINK is {@link MapSpec#F_LINK}. */
    private static final int BEFORE = 1 << 3;

    private static final int AFTER = 1 << 4;
    private static final int ID = 1 << 5;

    static AnchorFields of(Anchor anchor) {
        if (anchor.isDefault()) {
            return new AnchorFields(0, LinkCommand.Details.NONE);
        }
        int side = switch (anchor.side()) {
            case BEFORE -> BEFORE;
            case AFTER -> AFTER;
        };
        long revision = anchor.expectedRevision();
        return switch (anchor.relative()) {
            case Anchor.Nothing _ -> byId(side, 0, revision);
            case Anchor.OfLink of ->
                byFd(side | MapSpec.F_LINK, KernelLink.of(of.link()).fd(), revision);
            case Anchor.OfLinkId of -> byId(side | MapSpec.F_LINK | ID, of.id(), revision);
            case Anchor.OfProgram of -> byFd(side, AttachRequest.fd(of.program()), revision);
            case Anchor.OfProgramId of -> byId(side | ID, of.id(), revision);
        };
    }

    /** The meaning of an error number for targets with an order. */
    static String refusal(Errno errno, Anchor anchor) {
        return switch (errno) {
            case ESTALE -> "; the revision of the order is not " + anchor.expectedRevision();
            case ENOENT, EBADF -> anchor.isDefault() ? "" : "; the link or program of the anchor is not attached there";
            case ERANGE -> "; the hook has the maximum of 64 programs";
            case EEXIST -> "; the program is already attached there";
            default -> "";
        };
    }

    private static AnchorFields byFd(int flags, Fd relative, long revision) {
        return new AnchorFields(flags, LinkCommand.Details.of(relative, ORDER, relative.number(), revision));
    }

    private static AnchorFields byId(int flags, int relative, long revision) {
        return new AnchorFields(flags, LinkCommand.Details.of(ORDER, relative, revision));
    }
}
