package io.bpf4j.loader.internal.sys;

/**
 * What wait4(2) tells of a tracee. <i>Immutable.</i>
 *
 * @param tid the thread; 0 if there is no news, -1 if there is no tracee any more
 * @param status as wait4 gives it
 */
public record WaitStatus(int tid, int status) {
    public static final WaitStatus NO_NEWS = new WaitStatus(0, 0);
    public static final WaitStatus NO_TRACEES = new WaitStatus(-1, 0);

    /** The low byte of a tracee that stopped, rather than ended. */
    private static final int STOPPED = 0x7f;

    /** Whether it stopped; else it has ended. */
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
