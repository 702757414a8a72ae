package io.bpf4j.loader.internal.sys;

import static io.bpf4j.loader.internal.sys.Libc.NUMBERS;

import io.bpf4j.loader.kernel.Errno;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Executes ptrace, wait4 and tgkill. <i>Thread-safe</i>, within the kernel's rule that one thread traces. */
final class ProcessCalls {
    /** include/uapi/linux/wait.h. */
    private static final int WNOHANG = 1;

    private static final int WNOTHREAD = 0x20000000;
    private static final int WALL = 0x40000000;

    /**
     * {@code siginfo_t} has 128 bytes; on 64-bit machines si_code is the third int, and si_pid follows a padded fourth.
     */
    private static final int SIGINFO_SIZE = 128;

    private static final int SI_CODE = 8;
    private static final int SI_PID = 16;

    private final LinuxKernel kernel;

    ProcessCalls(LinuxKernel kernel) {
        this.kernel = kernel;
    }

    Object execute(ProcessCommand<?> command) {
        return switch (command) {
            case ProcessCommand.Seize seize ->
                kernel.check(seize, ptrace(Ptrace.SEIZE, seize.tid(), 0, seize.options()));
            case ProcessCommand.Continue go -> error(ptrace(Ptrace.CONT, go.tid(), 0, go.signal()));
            case ProcessCommand.Listen listen -> error(ptrace(Ptrace.LISTEN, listen.tid(), 0, 0));
            case ProcessCommand.Detach detach -> error(ptrace(Ptrace.DETACH, detach.tid(), 0, detach.signal()));
            case ProcessCommand.FormerThread of -> {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment message = arena.allocate(ValueLayout.JAVA_LONG);
                    kernel.check(of, ptrace(Ptrace.GETEVENTMSG, of.tid(), 0, message.address()));
                    yield (int) message.get(ValueLayout.JAVA_LONG, 0);
                }
            }
            case ProcessCommand.SignalOrigin of -> {
                try (Arena arena = Arena.ofConfined()) {
                    MemorySegment info = arena.allocate(SIGINFO_SIZE, 8);
                    kernel.check(of, ptrace(Ptrace.GETSIGINFO, of.tid(), 0, info.address()));
                    yield new ProcessCommand.SignalOrigin.Origin(
                            info.get(ValueLayout.JAVA_INT, SI_CODE), info.get(ValueLayout.JAVA_INT, SI_PID));
                }
            }
            case ProcessCommand.Wait wait -> await(wait);
            case ProcessCommand.Signal signal ->
                error(Libc.syscall(NUMBERS.tgkill(), signal.pid(), signal.tid(), signal.signal()));
        };
    }

    private WaitStatus await(ProcessCommand.Wait wait) {
        // The thread's scratch memory: this call is made for every signal of every tracee.
        MemorySegment status = Libc.Scratch.get().attr;
        int options = WALL | WNOTHREAD | (wait.blocking() ? 0 : WNOHANG);
        long result;
        do {
            result = Libc.syscall(NUMBERS.wait4(), -1, status.address(), options, 0, 0, 0);
        } while (result == -Errno.EINTR.number());
        if (result == -Errno.ECHILD.number()) {
            return WaitStatus.NO_TRACEES;
        }
        int tid = kernel.check(wait, result);
        return tid == 0 ? WaitStatus.NO_NEWS : new WaitStatus(tid, status.get(ValueLayout.JAVA_INT, 0));
    }

    private static long ptrace(int request, int tid, long address, long data) {
        return Libc.syscall(NUMBERS.ptrace(), request, tid, address, data, 0, 0);
    }

    private static int error(long result) {
        return (int) -Math.min(result, 0);
    }
}
