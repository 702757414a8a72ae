package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.link.Anchor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A place in the kernel's order of programs: flags, and the program or link that it is relative to. <i>Immutable.</i>
 *
 * <p>The default place sets no field, so that kernels without an order for control groups (before 6.17) accept it.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record Place(int flags, LinkCommand.Details details) {
    /**
     * The fields for tcx; those of netkit and cgroup are the same.
     *
     * @param relative link or program; null for none, or by id
     * @param relativeId id in place of {@code relative}; 0 for none
     * @param expectedRevision 0 for any
     */
    private record Ordered(@Nullable Fd relative, int relativeId, long expectedRevision)
            implements LinkCommand.Details {
        private static final StructLayout LAYOUT =
                StructLayout.of("bpf_attr.link_create.tcx", "u32 relative_fd", "u64 expected_revision");

        @Override
        public void encode(MemorySegment union, SegmentAllocator memory) {
            LAYOUT.set(union, "relative_fd", relative == null ? relativeId : relative.number());
            LAYOUT.set(union, "expected_revision", expectedRevision);
        }

        @Override
        public List<Fd> fds() {
            return relative == null ? List.of() : List.of(relative);
        }
    }

    /** BPF_F_BEFORE, BPF_F_AFTER, BPF_F_ID, BPF_F_LINK of include/uapi/linux/bpf.h. */
    private static final int BEFORE = 1 << 3;

    private static final int AFTER = 1 << 4;
    private static final int ID = 1 << 5;
    private static final int LINK = 1 << 13;

    static Place of(Anchor anchor) {
        if (anchor.isDefault()) {
            return new Place(0, LinkCommand.Details.NONE);
        }
        int side = switch (anchor.side()) {
            case BEFORE -> BEFORE;
            case AFTER -> AFTER;
        };
        long revision = anchor.expectedRevision();
        return switch (anchor.relative()) {
            case Anchor.Nothing _ -> new Place(side, new Ordered(null, 0, revision));
            case Anchor.OfLink of -> byFd(side | LINK, KernelLink.of(of.link()).fd(), revision);
            case Anchor.OfLinkId of -> byId(side | LINK | ID, of.id(), revision);
            case Anchor.OfProgram of -> byFd(side, Attempt.fd(of.program()), revision);
            case Anchor.OfProgramId of -> byId(side | ID, of.id(), revision);
        };
    }

    /** The meaning of an error number for targets with an order. */
    static String refusal(Errno errno, Anchor anchor) {
        return switch (errno) {
            case ESTALE -> "; the order has another revision than " + anchor.expectedRevision();
            case ENOENT, EBADF -> anchor.isDefault() ? "" : "; what it is relative to is not attached there";
            case ERANGE -> "; the hook has 64 programs, as many as it takes";
            case EEXIST -> "; the program is attached there already";
            default -> "";
        };
    }

    private static Place byFd(int flags, Fd relative, long revision) {
        return new Place(flags, new Ordered(relative, 0, revision));
    }

    private static Place byId(int flags, int relative, long revision) {
        return new Place(flags, new Ordered(null, relative, revision));
    }
}
