package io.bpf4j.loader.internal.sys;

/**
 * ptrace(2), wait4(2) and tgkill(2): holding other processes.
 *
 * <p>The kernel knows the thread that traces, not its process: all commands but {@link Signal} must come from the thread
 * that gave {@link Seize}. Commands to a tracee that somebody kills meanwhile fail with ESRCH at any time, which is no
 * failure of the tracer's; their result is the error number.
 */
public sealed interface ProcessCommand<R> extends Command<R> {
    /**
     * PTRACE_SEIZE (Linux 3.4): traces a thread without stopping it. If the calling thread ends, the kernel lets all its
     * tracees go on.
     *
     * @param options {@link Ptrace}'s, of those that begin with TRACE
     */
    record Seize(int tid, int options) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "ptrace(PTRACE_SEIZE) of thread " + tid;
        }
    }

    /**
     * PTRACE_CONT: lets a stopped tracee run.
     *
     * @param signal delivered to it, if it stopped for one; 0 for none
     */
    record Continue(int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "ptrace(PTRACE_CONT) of thread " + tid;
        }
    }

    /** PTRACE_LISTEN: leaves a tracee stopped whose process was stopped by SIGSTOP or the like, until that is continued. */
    record Listen(int tid) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "ptrace(PTRACE_LISTEN) of thread " + tid;
        }
    }

    /**
     * PTRACE_DETACH of a stopped tracee.
     *
     * @param signal delivered to it; 0 for none
     */
    record Detach(int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "ptrace(PTRACE_DETACH) of thread " + tid;
        }
    }

    /** PTRACE_GETEVENTMSG of a tracee at PTRACE_EVENT_EXEC: the number that the thread had before. */
    record FormerThread(int tid) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "ptrace(PTRACE_GETEVENTMSG) of thread " + tid;
        }
    }

    /** PTRACE_GETSIGINFO of a tracee that stopped for a signal: who sent it. */
    record SignalOrigin(int tid) implements ProcessCommand<SignalOrigin.Origin> {
        /**
         * Where a signal comes from (sigaction(2)).
         *
         * @param code si_code: positive if the kernel sent it
         * @param pid si_pid, of the sending process; has a meaning only for what a process sent
         */
        public record Origin(int code, int pid) {
            /** include/uapi/asm-generic/siginfo.h. */
            private static final int SI_KERNEL = 0x80;

            private static final int SI_TKILL = -6;

            /** Whether the kernel sent it of itself. A BPF program does it so, too. */
            public boolean isKernel() {
                return code == SI_KERNEL;
            }

            /** Whether a process sent it to one thread. */
            public boolean isThreadSignalOf(long sender) {
                return code == SI_TKILL && pid == sender;
            }
        }

        @Override
        public String call() {
            return "ptrace(PTRACE_GETSIGINFO) of thread " + tid;
        }
    }

    /**
     * wait4(2) for the next news of a tracee of the calling thread, with {@code __WALL | __WNOTHREAD}: it sees neither what
     * other threads of this process trace nor their children.
     *
     * @param blocking whether to wait until there is some
     */
    record Wait(boolean blocking) implements ProcessCommand<WaitStatus> {
        @Override
        public String call() {
            return "wait4 for tracees";
        }
    }

    /** tgkill(2): a signal to one thread. */
    record Signal(int pid, int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public String call() {
            return "tgkill of thread " + tid + " with signal " + signal;
        }
    }
}
