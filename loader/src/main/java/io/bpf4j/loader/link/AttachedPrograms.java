package io.bpf4j.loader.link;

import java.util.List;
import java.util.OptionalInt;

/**
 * The programs that are attached to one target, as the kernel reports them (BPF_PROG_QUERY, and netlink for
 * XDP and filters of traffic control). <i>Immutable.</i> Any
 * process may attach or detach programs afterwards; {@link Anchor#atRevision} attaches only if none has done so.
 *
 * <p>Tested by {@code HookQueryTest} and {@code AttachedProgramsOnKernelTest}.
 *
 * @param programs in the order in which they run
 * @param flags of the target, for control groups: {@link #ALLOW_OVERRIDE}, {@link #ALLOW_MULTI} or 0
 * @param revision a number that changes with the programs of tcx (Linux 6.6), netkit (6.7) and control groups (6.17);
 *     0 for other targets and older kernels
 */
public record AttachedPrograms(List<Entry> programs, int flags, long revision) {
    /** A group below may replace the program: {@code BPF_F_ALLOW_OVERRIDE}. */
    public static final int ALLOW_OVERRIDE = 1;

    /** More programs may be attached to the group and to groups below, as with links: {@code BPF_F_ALLOW_MULTI}. */
    public static final int ALLOW_MULTI = 1 << 1;

    /** The program runs before the programs of groups below: {@code BPF_F_PREORDER} (Linux 6.15). */
    public static final int PREORDER = 1 << 6;

    /**
     * An attached program.
     *
     * @param programId the kernel's id, by which {@code Programs.byId} opens it
     * @param linkId the kernel's id of its link, by which {@code Links.byId} opens it; empty if it has no link, or if the
     *     target is neither tcx nor netkit: the kernel does not report links of other targets
     * @param flags with which it was attached to a control group, such as {@link AttachedPrograms#ALLOW_MULTI} (Linux
     *     6.0); for XDP, the flag of its mode, as {@link Xdp.Mode#flag}; else 0
     */
    public record Entry(int programId, OptionalInt linkId, int flags) {}
}
