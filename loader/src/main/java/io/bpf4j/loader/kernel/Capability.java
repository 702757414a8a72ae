package io.bpf4j.loader.kernel;

/**
 * The capabilities that loading, attaching and looking into processes take (capabilities(7); the numbers are those of
 * include/uapi/linux/capability.h). <i>Immutable.</i>
 */
public enum Capability {
    /** To open files whatever their permissions say. */
    CAP_DAC_OVERRIDE(1, false),
    /** For programs and maps of the network. */
    CAP_NET_ADMIN(12, true),
    /** To look into processes of other users. */
    CAP_SYS_PTRACE(19, false),
    /** Stands in for those that were split off it, and for {@link #CAP_NET_ADMIN} in bpf(2). */
    CAP_SYS_ADMIN(21, false),
    /** For programs that trace and for perf events (Linux 5.8). */
    CAP_PERFMON(38, true),
    /** For maps, programs and BTF (Linux 5.8). */
    CAP_BPF(39, true),
    /** To open a file that a process has mapped by its place in memory (Linux 5.9). */
    CAP_CHECKPOINT_RESTORE(40, true);

    private final int number;
    private final boolean ofSysAdmin;

    Capability(int number, boolean ofSysAdmin) {
        this.number = number;
        this.ofSysAdmin = ofSysAdmin;
    }

    /** Its bit in a set of capabilities. */
    public int number() {
        return number;
    }

    /** Whether a process with {@link #CAP_SYS_ADMIN} needs no other for it. */
    public boolean isOfSysAdmin() {
        return ofSysAdmin;
    }
}
