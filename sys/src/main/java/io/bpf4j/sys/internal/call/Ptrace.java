package io.bpf4j.sys.internal.call;

/**
 * Numbers of include/uapi/linux/ptrace.h and asm-generic/signal.h, the same on all machines of {@link Syscall}.
 */
public final class Ptrace {
    /** The tracee stops after a fork, and its child is traced from the start. */
    public static final int TRACE_FORK = 1 << 1;

    public static final int TRACE_VFORK = 1 << 2;

    /** The same for clone: a thread, or a child that sends no SIGCHLD. */
    public static final int TRACE_CLONE = 1 << 3;

    /** The tracee stops in execve, before the new program's first instruction, instead of getting a SIGTRAP. */
    public static final int TRACE_EXEC = 1 << 4;

    public static final int EVENT_EXEC = 4;

    /** A new tracee, or a process that was stopped by a signal, or that resumes after that. */
    public static final int EVENT_STOP = 128;

    public static final int SIGCONT = 18;
    public static final int SIGSTOP = 19;
    public static final int SIGTTOU = 22;

    /** Ignored by default; a program that handles it must tolerate any number of it (socket(7)). */
    public static final int SIGURG = 23;

    static final int CONT = 7;
    static final int DETACH = 17;
    static final int GETEVENTMSG = 0x4201;
    static final int GETSIGINFO = 0x4202;
    static final int SEIZE = 0x4206;
    static final int LISTEN = 0x4208;

    private Ptrace() {}

    /** Whether it is one of the four signals that stop a process. */
    public static boolean isStopping(int signal) {
        return signal >= SIGSTOP && signal <= SIGTTOU;
    }
}
