package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.kernel.Errno;
import java.lang.foreign.MemorySegment;

/**
 * ptrace(2), wait4(2) and tgkill(2), to stop other processes; kcmp(2), to compare them.
 *
 * <p>The tracer is a thread, not a process: all commands except {@link Signal} and {@link SameMemory} must come from
 * the thread that executed {@link Seize}. A command to a tracee that is killed fails with ESRCH at any time, which is
 * not an error of the tracer; the result of the commands is the error number.
 *
 * <p>Tested by {@code TracerThreadTest} and {@code ProcessTracerTest}.
 */
public sealed interface ProcessCommand<R> extends Command<R> {
    /**
     * PTRACE_SEIZE (Linux 3.4): traces a thread without stopping it. If the calling thread ends, the kernel resumes all
     * its tracees.
     *
     * @param options constants of {@link Ptrace} that begin with TRACE
     */
    record Seize(int tid, int options) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return call.check(ptrace(call, Ptrace.SEIZE, tid, options));
        }
    }

    /**
     * PTRACE_CONT: resumes a stopped tracee.
     *
     * @param signal delivered to it, if it stopped for one; 0 for none
     */
    record Continue(int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return error(ptrace(call, Ptrace.CONT, tid, signal));
        }
    }

    /**
     * PTRACE_LISTEN: leaves a tracee in its group-stop (by SIGSTOP or a similar signal) until the process is continued.
     */
    record Listen(int tid) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return error(ptrace(call, Ptrace.LISTEN, tid, 0));
        }
    }

    /**
     * PTRACE_DETACH of a stopped tracee.
     *
     * @param signal delivered to it; 0 for none
     */
    record Detach(int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return error(ptrace(call, Ptrace.DETACH, tid, signal));
        }
    }

    /**
     * PTRACE_GETEVENTMSG of a tracee that stopped for an event: of PTRACE_EVENT_EXEC the former number of the thread,
     * of PTRACE_EVENT_FORK, _VFORK and _CLONE the number of the new thread, in the tracer's pid namespace (Linux 3.17,
     * kernel commit 4e52365f2795).
     */
    record EventMessage(int tid) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            MemorySegment message = call.allocate(Struct.U64);
            call.check(ptrace(call, Ptrace.GETEVENTMSG, tid, message.address()));
            return (int) message.get(Struct.U64, 0);
        }
    }

    /** PTRACE_GETSIGINFO of a tracee that stopped for a signal: who sent it. */
    record SignalOrigin(int tid) implements ProcessCommand<SignalOrigin.Origin> {
        /**
         * {@code siginfo_t} has 128 bytes; on 64-bit machines si_code is the third int, and si_pid follows a padded
         * fourth.
         */
        private static final int SIGINFO_SIZE = 128;

        private static final int SI_CODE = 8;
        private static final int SI_PID = 16;

        /**
         * The origin of a signal (sigaction(2)).
         *
         * @param code si_code: positive if the kernel sent it
         * @param pid si_pid, the sending process; valid only for a signal from a process
         */
        public record Origin(int code, int pid) {
            /** include/uapi/asm-generic/siginfo.h. */
            private static final int SI_KERNEL = 0x80;

            private static final int SI_TKILL = -6;

            /** Whether the kernel sent it. True also for a signal from a BPF program. */
            public boolean isKernel() {
                return code == SI_KERNEL;
            }

            /** Whether a process sent it to one thread. */
            public boolean isThreadSignalOf(long sender) {
                return code == SI_TKILL && pid == sender;
            }
        }

        @Override
        public Origin run(Call call) {
            MemorySegment info = call.allocate(SIGINFO_SIZE, Long.BYTES);
            call.check(ptrace(call, Ptrace.GETSIGINFO, tid, info.address()));
            return new Origin(info.get(Struct.U32, SI_CODE), info.get(Struct.U32, SI_PID));
        }
    }

    /**
     * wait4(2) for the next event of a tracee of the calling thread, with {@code __WALL | __WNOTHREAD}: it sees neither
     * the tracees nor the children of other threads of this process.
     *
     * @param blocking whether to wait for an event
     */
    record Wait(boolean blocking) implements ProcessCommand<WaitStatus> {
        /** include/uapi/linux/wait.h. */
        private static final int WNOHANG = 1;

        private static final int WNOTHREAD = 0x20000000;
        private static final int WALL = 0x40000000;

        @Override
        public WaitStatus run(Call call) {
            // The thread's scratch memory: this call is made for every signal of every tracee.
            MemorySegment status = call.attr(Integer.BYTES);
            int options = WALL | WNOTHREAD | (blocking ? 0 : WNOHANG);
            long result = Call.retryOnSignal(() -> call.syscall(Syscall.WAIT4, -1, status.address(), options));
            if (result == -Errno.ECHILD.number()) {
                return WaitStatus.NO_TRACEES;
            }
            int tid = call.check(result);
            return tid == 0 ? WaitStatus.NO_EVENT : new WaitStatus(tid, status.get(Struct.U32, 0));
        }
    }

    /** tgkill(2): a signal to one thread. */
    record Signal(int pid, int tid, int signal) implements ProcessCommand<Integer> {
        @Override
        public Integer run(Call call) {
            return error(call.syscall(Syscall.TGKILL, pid, tid, signal));
        }
    }

    /**
     * Compares the memory of two processes by kcmp(2) (Linux 3.5): true if they share it. False also if the kernel
     * can't compare them, because it was built without CONFIG_KCMP, or because a process has ended or may not be
     * traced.
     */
    record SameMemory(int first, int second) implements ProcessCommand<Boolean> {
        /** include/uapi/linux/kcmp.h. */
        private static final int KCMP_VM = 1;

        @Override
        public Boolean run(Call call) {
            return call.syscall(Syscall.KCMP, first, second, KCMP_VM) == 0;
        }
    }

    @Override
    default String call() {
        return switch (this) {
            case Seize seize -> "ptrace(PTRACE_SEIZE) of thread " + seize.tid;
            case Continue run -> "ptrace(PTRACE_CONT) of thread " + run.tid;
            case Listen(int tid) -> "ptrace(PTRACE_LISTEN) of thread " + tid;
            case Detach detach -> "ptrace(PTRACE_DETACH) of thread " + detach.tid;
            case EventMessage(int tid) -> "ptrace(PTRACE_GETEVENTMSG) of thread " + tid;
            case SignalOrigin(int tid) -> "ptrace(PTRACE_GETSIGINFO) of thread " + tid;
            case Wait _ -> "wait4 for tracees";
            case Signal sent -> "tgkill of thread " + sent.tid + " with signal " + sent.signal;
            case SameMemory(int first, int second) -> "kcmp of processes " + first + " and " + second;
        };
    }

    private static long ptrace(Call call, int request, int tid, long data) {
        return call.syscall(Syscall.PTRACE, request, tid, 0, data, 0, 0);
    }

    private static int error(long result) {
        return (int) -Math.min(result, 0);
    }
}
