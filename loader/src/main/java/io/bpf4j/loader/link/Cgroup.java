package io.bpf4j.loader.link;

import io.bpf4j.sys.kernel.AttachType;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A version 2 control group and all groups below it (Linux 5.7); {@code SEC("cgroup/…")}, {@code "cgroup_skb/…"},
 * {@code "sockops"} (CGROUP_*), {@code "lsm_cgroup/…"} (LSM_CGROUP, Linux 6.0). Several programs may be attached to
 * one group.
 */
public sealed interface Cgroup extends AttachTarget {
    /**
     * Which other programs of the same attach type a group may have beside one that is attached without a link. It
     * must be the same for all programs of a group.
     */
    enum Sharing {
        /** None, and none in the groups below (flags 0). */
        EXCLUSIVE(0),
        /** None; one in a group below runs instead of it there ({@code BPF_F_ALLOW_OVERRIDE}). */
        OVERRIDE(AttachedPrograms.ALLOW_OVERRIDE),
        /** Others, which all run, also those of groups below: as with links ({@code BPF_F_ALLOW_MULTI}). */
        MULTI(AttachedPrograms.ALLOW_MULTI);

        private final int flag;

        Sharing(int flag) {
            this.flag = flag;
        }

        /** {@code BPF_F_ALLOW_*} of include/uapi/linux/bpf.h. */
        public int flag() {
            return flag;
        }
    }

    /** A group, by its directory in a cgroup2 file system. */
    static Cgroup of(Path directory) {
        return new CgroupData(directory, Optional.empty(), Anchor.last(), Optional.empty(), Optional.empty(), false);
    }

    Path directory();

    /** Empty for the program's own attach type. */
    Optional<AttachType> attachType();

    Anchor anchor();

    /** Empty for a link. */
    Optional<Sharing> sharing();

    /** The program that is replaced; empty for none. */
    Optional<ProgramHandle> replaced();

    /** Whether the program runs before those of groups below. */
    boolean isPreorder();

    /**
     * Sets the attach type: for a program that was loaded without one, as {@code SEC("cgroup/skb")}, and for {@code
     * Links.attachedTo}.
     */
    default Cgroup withAttachType(AttachType type) {
        return new CgroupData(directory(), Optional.of(type), anchor(), sharing(), replaced(), isPreorder());
    }

    /** Sets the position among the group's programs; a position other than the last needs Linux 6.17, and a link. */
    default Cgroup withAnchor(Anchor anchor) {
        return new CgroupData(directory(), attachType(), anchor, sharing(), replaced(), isPreorder());
    }

    /**
     * Attaches without a link (BPF_PROG_ATTACH, Linux 4.10; {@link Sharing#MULTI} 4.15). <b>The program stays
     * attached if this process ends without closing what attaching returns</b>, until {@code Links.detach} or the
     * end of the group. Closing detaches it, unless another program has replaced it. Before Linux 6.17 this is checked
     * first: without {@link Sharing#MULTI}, a program that replaces it between the check and the detaching is detached
     * instead.
     */
    default Cgroup withoutLink(Sharing sharing) {
        return new CgroupData(directory(), attachType(), anchor(), Optional.of(sharing), replaced(), isPreorder());
    }

    /**
     * Replaces a program of the same group that is attached without a link ({@code BPF_F_REPLACE}, Linux 5.6): only
     * with {@link #withoutLink} and {@link Sharing#MULTI}. In the other modes, every program replaces the one that is
     * there.
     *
     * @param program still belongs to its owner; {@code Programs.byId} opens that of another process
     */
    default Cgroup replacing(ProgramHandle program) {
        return new CgroupData(directory(), attachType(), anchor(), sharing(), Optional.of(program), isPreorder());
    }

    /**
     * Runs before the programs of groups below ({@code BPF_F_PREORDER}, Linux 6.15; with a link 6.17): the programs of
     * the lowest group run first otherwise.
     */
    default Cgroup withPreorder() {
        return new CgroupData(directory(), attachType(), anchor(), sharing(), replaced(), true);
    }
}

record CgroupData(
        Path directory,
        Optional<AttachType> attachType,
        Anchor anchor,
        Optional<Sharing> sharing,
        Optional<ProgramHandle> replaced,
        boolean isPreorder)
        implements Cgroup {
    @Override
    public String description() {
        return "control group " + directory + anchor.suffix() + (sharing.isPresent() ? " without a link" : "");
    }
}
