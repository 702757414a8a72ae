package io.bpf4j.sys.internal.call;

/**
 * The event of a tracee from wait4(2). <i>Immutable.</i>
 *
 * @param tid the thread; 0 without an event, -1 if no tracee exists any more
 * @param status the status from wait4
 */
public record WaitStatus(int tid, int status) {
    public static final WaitStatus NO_EVENT = new WaitStatus(0, 0);
    public static final WaitStatus NO_TRACEES = new WaitStatus(-1, 0);

    /** The low byte of the status of a tracee that stopped. */
    private static final int STOPPED = 0x7f;

    /** Whether the tracee stopped; else it has ended. */
    public boolean isStop() {
        return (status & 0xff) == STOPPED;
    }

    /** The signal that it stopped for. */
    public int signal() {
        return status >>> 8 & 0xff;
    }

    /** The ptrace event, such as {@link Ptrace#EVENT_EXEC}; 0 if it stopped because a signal is to be delivered. */
    public int event() {
        return status >>> 16;
    }
}
