package io.bpf4j.loader.link;

import java.util.List;

/**
 * The programs that are attached to one target, as the kernel reports them (BPF_PROG_QUERY). <i>Immutable.</i> Whoever
 * attaches or detaches afterwards makes it outdated; {@link Anchor#atRevision} attaches only if nobody did.
 *
 * <p>Tested by {@code HookQueryTest} and {@code AttachedProgramsOnKernelTest}.
 *
 * @param programs in the order in which they run
 * @param flags of the target, for control groups: {@link #ALLOW_OVERRIDE}, {@link #ALLOW_MULTI} or 0
 * @param revision number that changes when the programs change: of tcx (Linux 6.6), netkit (6.7), and control groups
 *     (6.17); 0 if the kernel has none
 */
public record AttachedPrograms(List<Entry> programs, int flags, long revision) {
    /** A group below may replace the program: {@code BPF_F_ALLOW_OVERRIDE}. */
    public static final int ALLOW_OVERRIDE = 1;

    /** Others may attach further programs here and below, as with links: {@code BPF_F_ALLOW_MULTI}. */
    public static final int ALLOW_MULTI = 1 << 1;

    /** It runs before the programs of groups below it: {@code BPF_F_PREORDER} (Linux 6.15). */
    public static final int PREORDER = 1 << 6;

    /**
     * A program.
     *
     * @param programId the kernel's id, by which {@code Programs.byId} opens it
     * @param linkId the kernel's id of its link, by which {@code Links.byId} opens it; 0 if it is attached without a
     *     link, or the kernel does not say: it does for tcx and netkit only
     * @param flags as it was attached, for control groups (Linux 6.0); else 0
     */
    public record Entry(int programId, int linkId, int flags) {}
}
