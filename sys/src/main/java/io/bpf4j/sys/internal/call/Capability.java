package io.bpf4j.sys.internal.call;

/**
 * The capabilities for loading, attaching and inspecting processes (capabilities(7); the numbers are those of
 * include/uapi/linux/capability.h). <i>Immutable.</i>
 */
public enum Capability {
    /** To open files regardless of their permissions. */
    CAP_DAC_OVERRIDE(1, false),
    /** Signals to processes of other users. */
    CAP_KILL(5, false),
    /** For networking programs and maps. */
    CAP_NET_ADMIN(12, true),
    /** To inspect processes of other users. */
    CAP_SYS_PTRACE(19, false),
    /** Includes the capabilities that were split off it, and {@link #CAP_NET_ADMIN} in bpf(2). */
    CAP_SYS_ADMIN(21, false),
    /** For tracing programs and perf events (Linux 5.8). */
    CAP_PERFMON(38, true),
    /** For maps, programs and BTF (Linux 5.8). */
    CAP_BPF(39, true),
    /** To open a file that a process has mapped, by its address range (Linux 5.9). */
    CAP_CHECKPOINT_RESTORE(40, true);

    private final int number;
    private final boolean ofSysAdmin;

    Capability(int number, boolean ofSysAdmin) {
        this.number = number;
        this.ofSysAdmin = ofSysAdmin;
    }

    /** Its bit number in a capability set. */
    public int number() {
        return number;
    }

    /** Whether {@link #CAP_SYS_ADMIN} includes this capability. */
    public boolean isOfSysAdmin() {
        return ofSysAdmin;
    }
}
