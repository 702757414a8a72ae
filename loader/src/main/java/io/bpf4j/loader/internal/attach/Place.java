package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.link.Anchor;

/**
 * A place in an order as the kernel takes it: flags, and what it is relative to. <i>Immutable.</i>
 *
 * <p>The default place is said by nothing at all, so that kernels which know no order for control groups (before 6.17)
 * take it.
 */
record Place(int flags, LinkCommand.Details details) {
    /** BPF_F_BEFORE, BPF_F_AFTER, BPF_F_ID, BPF_F_LINK of include/uapi/linux/bpf.h. */
    private static final int BEFORE = 1 << 3;

    private static final int AFTER = 1 << 4;
    private static final int ID = 1 << 5;
    private static final int LINK = 1 << 13;

    static Place of(Anchor anchor) {
        if (anchor.isDefault()) {
            return new Place(0, new LinkCommand.Details.None());
        }
        int side = switch (anchor.side()) {
            case BEFORE -> BEFORE;
            case AFTER -> AFTER;
        };
        long revision = anchor.expectedRevision();
        return switch (anchor.relative()) {
            case Anchor.Nothing _ -> new Place(side, new LinkCommand.Details.Ordered(null, 0, revision));
            case Anchor.OfLink of -> byFd(side | LINK, KernelLink.of(of.link()).fd(), revision);
            case Anchor.OfLinkId of -> byId(side | LINK | ID, of.id(), revision);
            case Anchor.OfProgram of -> byFd(side, Programs.fd(of.program()), revision);
            case Anchor.OfProgramId of -> byId(side | ID, of.id(), revision);
        };
    }

    private static Place byFd(int flags, Fd relative, long revision) {
        return new Place(flags, new LinkCommand.Details.Ordered(relative, 0, revision));
    }

    private static Place byId(int flags, int relative, long revision) {
        return new Place(flags, new LinkCommand.Details.Ordered(null, relative, revision));
    }
}
