package io.bpf4j.process.hold;

import io.bpf4j.process.Tasks;
import io.bpf4j.process.hold.ProcessStop.Kind;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Capability;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.call.Ptrace;
import io.bpf4j.sys.internal.call.WaitStatus;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The tracing thread. ptrace(2) binds tracees to one thread: only this thread may control them, and when it ends the
 * kernel resumes all of them. So closing only ends the thread. <i>Thread-safe</i>, except for the private part, which
 * belongs to the thread.
 *
 * <p>It sleeps in wait4 until an event of a tracee. Requests arrive only while a tracee is held; during that time the
 * thread polls both in turn. To wake the thread for closing, a tracee is sent a SIGURG, which the thread recognises and
 * drops.
 *
 * <p>The events (ptrace(2), "PTRACE_SEIZE"):
 *
 * <ul>
 *   <li>PTRACE_EVENT_FORK, _VFORK or _CLONE: a thread has created another one, which may run, and stop, much later.
 *       There is no such event if the thread is killed in the fork, by a signal or because its process ends
 *   <li>{@link Ptrace#EVENT_STOP} of an unknown thread: it is new, and traced from its start
 *   <li>the same of a known thread: its process was stopped by a signal, or resumes after that
 *   <li>{@link Ptrace#EVENT_EXEC}; other threads of the process are gone without an event
 *   <li>no event: a signal is about to be delivered
 *   <li>the end of a thread; the end of the first thread is reported last, and is the end of the process, if the
 *       first thread is traced
 * </ul>
 */
final class TracerThread {
    /** Maximum delay of a request while a thread is held. */
    private static final long POLL_MILLIS = 1;

    /** While nothing happens and nothing is held. */
    private static final long MAX_POLL_MILLIS = 20;

    private static final long WAKE_MILLIS = 50;

    /** Threads that wait for the end of a vfork, or are frozen, take no signal; a process may have any number of them. */
    private static final int MAX_WAKES = 20;

    private static final int FIRST_JOIN_MILLIS = 1;

    /** Limited, because a process may have any number of threads. */
    private static final int MAX_GAPS = 5;

    /** The longest search for existing threads and children, who may create others meanwhile. Shorter in a test. */
    long seizeNanos = 10_000_000_000L;

    private final Kernel kernel;
    private final boolean withChildren;
    private final Predicate<ProcessStop> onStop;
    private final Host host;
    private final Tasks files;

    /** The processes that are known to be traced, and have not ended; without those that have not run yet. */
    private final Set<Integer> processes = ConcurrentHashMap.newKeySet();

    private final BlockingQueue<ProcessStop> resumed = new LinkedBlockingQueue<>();
    private final Set<Diagnostic> gaps = Collections.synchronizedSet(new LinkedHashSet<>());
    private final long self = ProcessHandle.current().pid();

    /** Whether this process may send signals to processes of every user. */
    private final boolean signalsAll;

    private @Nullable Thread thread;
    private volatile boolean closing;

    /** The id of the tracing thread, as in {@code TracerPid} of proc_pid_status(5); empty if unknown. */
    private volatile String id = "";

    /** Thread -> process, of all tracees. */
    private final Map<Integer, Integer> tracees = new HashMap<>();

    /** The end of the search for existing threads and children. */
    private long deadline;

    /** Held threads that wait for {@link #resume}, by thread id. */
    private final Map<Integer, ProcessStop> held = new HashMap<>();

    /**
     * Creates a tracer whose thread is not running yet.
     *
     * @param onStop called in the tracing thread, with a thread held, except at the end of a process; returns whether
     *     the thread stays held. For the SIGURG of a {@link Kind#BREAKPOINT} it returns false if the signal has another
     *     origin; then the thread gets the signal
     */
    TracerThread(Host host, boolean withChildren, Predicate<ProcessStop> onStop) {
        this.kernel = Kernel.of(host);
        this.host = host;
        this.files = new Tasks(host);
        this.signalsAll = ProcessRights.of(host).has(Capability.CAP_KILL);
        this.withChildren = withChildren;
        this.onStop = onStop;
    }

    /**
     * Starts the thread and returns when the process is traced.
     *
     * @throws SyscallException if the process can't be traced
     */
    void start(int pid) {
        CompletableFuture<Boolean> traced = new CompletableFuture<>();
        // A platform thread: a virtual thread can move to another kernel thread.
        thread = Thread.ofPlatform().name("bpf4j-ptrace").daemon().start(() -> run(pid, traced));
        try {
            traced.join();
        } catch (CompletionException e) {
            switch (e.getCause()) {
                case RuntimeException refused -> throw refused;
                case Error error -> throw error;
                case null, default -> throw e;
            }
        }
    }

    /** Resumes a held thread. */
    void resume(ProcessStop stop) {
        resumed.add(stop);
    }

    /** The processes that are known to be traced, and have not ended; without those that have not run yet. */
    Set<Integer> processes() {
        return Set.copyOf(processes);
    }

    /**
     * Whether anything is traced. Only the kernel knows: a process may end, or be killed in a fork, before its child
     * has first run; the thread ends when wait4 has no tracees left.
     */
    boolean isTracing() {
        Thread started = thread;
        return started != null && started.isAlive();
    }

    /** Why a thread or process may have continued without being held. */
    List<Diagnostic> gaps() {
        return List.copyOf(gaps);
    }

    /** Ends the thread; the kernel then resumes all tracees. */
    void close() {
        closing = true;
        Thread started = thread;
        if (started == null) {
            return;
        }
        try {
            // The thread may not be asleep.
            started.join(FIRST_JOIN_MILLIS);
            int waits = 0;
            for (int pid : processes) {
                for (int tid : files.threadsOf(pid)) {
                    if (started.isAlive() && isWakeable(tid)) {
                        kernel.execute(new ProcessCommand.Signal(pid, tid, Ptrace.SIGURG));
                        if (waits++ < MAX_WAKES) {
                            started.join(WAKE_MILLIS);
                        }
                    }
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether a thread receives a SIGURG at once: it neither blocks it nor is stopped. */
    private boolean isWakeable(int tid) {
        String state = files.status(tid, "State");
        String blocked = files.status(tid, "SigBlk");
        return !state.isEmpty()
                && "RSD".indexOf(state.charAt(0)) >= 0
                && !blocked.isEmpty()
                && (Long.parseUnsignedLong(blocked, 16) & 1L << (Ptrace.SIGURG - 1)) == 0;
    }

    private void run(int pid, CompletableFuture<Boolean> traced) {
        try {
            id = ownId();
            seizeAll(pid);
            traced.complete(true);
            loop();
        } catch (RuntimeException | Error e) {
            if (!traced.completeExceptionally(e)) {
                String why = e instanceof SyscallException ? e.getMessage() : e.toString();
                gaps.add(new Diagnostic(Diagnostic.Kind.LATE, "", "tracing ended early: " + why));
            }
        } finally {
            processes.clear();
        }
    }

    /**
     * Handles events until nothing is traced any more, or until {@link #close}, which ends a wait by a signal to a traced
     * process. A container may trace processes of other users, by CAP_SYS_PTRACE, and not signal them, and a process may
     * become one of another user at any time. So without CAP_KILL this thread does not wait in the kernel: it looks again
     * and again, a millisecond after an event, and less often the longer there is none.
     */
    private void loop() {
        long pollMillis = POLL_MILLIS;
        while (true) {
            for (ProcessStop stop = resumed.poll(); stop != null; stop = resumed.poll()) {
                release(stop);
            }
            if (closing) {
                return;
            }
            WaitStatus status = kernel.execute(new ProcessCommand.Wait(held.isEmpty() && signalsAll));
            if (status.equals(WaitStatus.NO_TRACEES)) {
                return;
            }
            pollMillis = status.equals(WaitStatus.NO_EVENT) && held.isEmpty()
                    ? Math.min(2 * pollMillis, MAX_POLL_MILLIS)
                    : POLL_MILLIS;
            if (status.equals(WaitStatus.NO_EVENT)) {
                awaitRequest(pollMillis);
            } else if (status.isStop()) {
                stopped(status.tid(), status.signal(), status.event());
            } else {
                ended(status.tid());
            }
        }
    }

    private void awaitRequest(long millis) {
        try {
            @Nullable ProcessStop stop = resumed.poll(millis, TimeUnit.MILLISECONDS);
            if (stop != null) {
                release(stop);
            }
        } catch (InterruptedException e) {
            closing = true; // an interrupt is a request to end this thread
        }
    }

    /** Reports a stop; the thread is held until it is resumed, unless {@link #onStop} returns false. */
    private boolean hold(ProcessStop stop) {
        held.put(stop.tid(), stop);
        boolean staysHeld = onStop.test(stop);
        if (!staysHeld) {
            held.remove(stop.tid(), stop);
        }
        return staysHeld;
    }

    private void release(ProcessStop stop) {
        if (held.remove(stop.tid(), stop)) {
            continueThread(stop.tid(), 0, stop.inGroupStop());
        }
    }

    private void stopped(int tid, int signal, int event) {
        boolean born = !tracees.containsKey(tid);
        int pid = tracees.computeIfAbsent(tid, this::processOf);
        if (event == Ptrace.EVENT_STOP) {
            boolean groupStop = Ptrace.isStopping(signal);
            if (!born || pid != tid) {
                continueThread(tid, 0, groupStop);
            } else if (withChildren) {
                processes.add(pid);
                hold(new ProcessStop(Kind.BORN, pid, false, tid, groupStop));
            } else {
                tracees.remove(tid);
                kernel.execute(new ProcessCommand.Detach(tid, 0));
            }
        } else if (event == Ptrace.EVENT_EXEC) {
            exec(tid);
        } else if (event != 0) {
            continueThread(tid, 0, false);
        } else if (signal != Ptrace.SIGURG || !isHandled(pid, tid)) {
            continueThread(tid, signal, false);
        }
    }

    /** Whether a SIGURG needs no delivery: the thread is held for it, or already resumed. */
    private boolean isHandled(int pid, int tid) {
        ProcessCommand.SignalOrigin.Origin origin;
        try {
            origin = kernel.execute(new ProcessCommand.SignalOrigin(tid));
        } catch (SyscallException e) {
            return false; // it was killed
        }
        if (origin.isThreadSignalOf(self) && closing) {
            continueThread(tid, 0, false);
            return true;
        }
        return origin.isKernel() && hold(new ProcessStop(Kind.BREAKPOINT, pid, false, tid, false));
    }

    private void exec(int pid) {
        int former;
        try {
            former = kernel.execute(new ProcessCommand.EventMessage(pid));
        } catch (SyscallException e) {
            return; // it was killed
        }
        tracees.values().removeIf(process -> process == pid);
        tracees.put(pid, pid);
        // A held thread that has ended needs no release; its number may soon belong to another thread.
        held.keySet().removeIf(tid -> !tracees.containsKey(tid));
        hold(new ProcessStop(Kind.EXEC, pid, former != pid, pid, false));
    }

    /**
     * Handles the end of a thread. An unknown thread was killed before its first stop. It may have been a process that
     * a watch has found among the children of its parent, and whose end the watch waits for.
     */
    private void ended(int tid) {
        held.remove(tid);
        @Nullable Integer pid = tracees.remove(tid);
        if (processes.remove(tid) || (pid == null && withChildren)) {
            reportEnd(tid);
        } else if (pid != null && isLastOf(pid) && processes.remove(pid)) {
            reportEnd(pid);
        }
    }

    private void reportEnd(int pid) {
        boolean _ = onStop.test(new ProcessStop(Kind.ENDED, pid, false, pid, false));
    }

    /** Whether a process has ended without an event: a first thread that had ended already can't be traced. */
    private boolean isLastOf(int pid) {
        return !tracees.containsKey(pid) && !tracees.containsValue(pid) && !files.isRunning(pid);
    }

    /** The process of a thread; the thread itself if it is gone. */
    private int processOf(int tid) {
        String pid = files.status(tid, "Tgid");
        return pid.isEmpty() ? tid : Integer.parseInt(pid);
    }

    /** Whether the kernel reports a thread as a tracee of the tracing thread. This process may have other tracers. */
    boolean isTracing(int tid) {
        return !id.isEmpty() && files.status(tid, "TracerPid").equals(id);
    }

    /** The id of the calling thread in the pid namespace of {@code /proc}; empty if it can't be read. */
    private String ownId() {
        try {
            return String.valueOf(
                    Files.readSymbolicLink(host.proc().resolve("thread-self")).getFileName());
        } catch (IOException e) {
            return "";
        }
    }

    private void continueThread(int tid, int signal, boolean groupStop) {
        // ESRCH: it was killed, and wait4 will report it.
        kernel.execute(groupStop ? new ProcessCommand.Listen(tid) : new ProcessCommand.Continue(tid, signal));
    }

    private int options() {
        int always = Ptrace.TRACE_CLONE | Ptrace.TRACE_EXEC;
        return withChildren ? always | Ptrace.TRACE_FORK | Ptrace.TRACE_VFORK : always;
    }

    /** Traces a process and its existing threads and children. The kernel traces new ones automatically. */
    private void seizeAll(int root) {
        kernel.execute(new ProcessCommand.Seize(root, options()));
        deadline = System.nanoTime() + seizeNanos;
        tracees.put(root, root);
        processes.add(root);
        boolean _ = seizeThreads(root);
        // Again, until no child is new: the kernel may skip a child if another one ends while it lists them.
        boolean found = withChildren;
        while (isToContinue(found)) {
            found = false;
            for (int pid : List.copyOf(processes)) {
                for (int child : files.childrenOf(pid)) {
                    found |= !processes.contains(child) && seizeThreads(child);
                }
            }
        }
    }

    /**
     * A process may create others for ever that the kernel does not trace (CLONE_UNTRACED). Those that it traces wait
     * until the search ends.
     */
    private boolean isToContinue(boolean found) {
        if (found && System.nanoTime() - deadline >= 0) {
            gaps.add(new Diagnostic(
                    Diagnostic.Kind.LATE, "", "threads or processes are created faster than they can be traced"));
            return false;
        }
        return found;
    }

    /** Traces all threads of a process; returns whether there is one that was not traced. */
    private boolean seizeThreads(int pid) {
        boolean seized = false;
        boolean found = true;
        Set<Integer> refused = new HashSet<>();
        while (isToContinue(found)) {
            found = false;
            for (int tid : files.threadsOf(pid)) {
                if (!tracees.containsKey(tid) && !refused.contains(tid)) {
                    found = true;
                    if (seize(pid, tid)) {
                        seized = true;
                        processes.add(pid);
                    } else {
                        refused.add(tid);
                    }
                }
            }
        }
        return seized;
    }

    private boolean seize(int pid, int tid) {
        try {
            kernel.execute(new ProcessCommand.Seize(tid, options()));
        } catch (SyscallException e) {
            // EPERM: also for a new child of a tracee, which this thread already traces, and for one that has ended.
            if (e.errno() != Errno.ESRCH && !isTracing(tid) && !files.hasEnded(tid)) {
                boolean more = gaps.size() >= MAX_GAPS;
                gaps.add(new Diagnostic(
                        Diagnostic.Kind.LATE,
                        more ? "" : "process " + pid,
                        more
                                ? "further threads can't be traced"
                                : "thread " + tid + " of process " + pid + " can't be traced: " + e.getMessage()));
            }
            return false;
        }
        tracees.put(tid, pid);
        return true;
    }
}
