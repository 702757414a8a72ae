package io.bpf4j.loader.internal.process;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.ProcessCommand;
import io.bpf4j.loader.internal.sys.Ptrace;
import io.bpf4j.loader.internal.sys.WaitStatus;
import io.bpf4j.loader.kernel.Errno;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The thread that traces. ptrace(2) ties tracees to one thread: only it may give commands for them, and when it ends the
 * kernel lets them all go on. So ending is all that closing takes. <i>Thread-safe</i>, except for the private part, which
 * belongs to the thread.
 *
 * <p>It sleeps in wait4, which only news of a tracee ends. Requests come only while a tracee is held, and then it looks at
 * both in turn. To be woken for the end, a tracee is sent a SIGURG, which the thread recognises and drops.
 *
 * <p>What news there is (ptrace(2), "PTRACE_SEIZE"):
 *
 * <ul>
 *   <li>{@link Ptrace#EVENT_STOP} of a thread that is not known: it was born, traced from the start
 *   <li>the same of one that is known: its process was stopped by a signal, or goes on after that
 *   <li>{@link Ptrace#EVENT_EXEC}; other threads of the process are gone then without a word
 *   <li>no event: a signal is about to be delivered
 *   <li>the end of a thread; that of the first comes when no other is left, and is that of the process
 * </ul>
 */
public final class TracerThread {
    /** How long a request may wait while somebody is held. */
    private static final long LOOK_MILLIS = 1;

    private static final long WAKE_MILLIS = 50;
    private static final int RELEASED = 1;

    private final Kernel kernel;
    private final boolean withChildren;
    private final Listener listener;
    private final LiveProcesses processes;
    private final BlockingQueue<Hold> resumed = new LinkedBlockingQueue<>();
    private final Set<String> gaps = new LinkedHashSet<>();
    private final long self = ProcessHandle.current().pid();
    private @Nullable Thread thread;
    private volatile boolean closing;

    /** Thread -> process, of all tracees. */
    private final Map<Integer, Integer> tracees = new HashMap<>();

    /** By thread, what waits for {@link #resume}. */
    private final Map<Integer, Hold> held = new HashMap<>();

    /**
     * A thread that is held. Compared as an object: a thread that is killed while it is held may leave its number to
     * another, that of the first thread to one that calls exec for instance.
     */
    @SuppressWarnings("ClassCanBeRecord")
    public static final class Hold {
        private final int tid;

        /** Whether a signal has stopped its process, which then stays so. */
        private final boolean groupStop;

        private Hold(int tid, boolean groupStop) {
            this.tid = tid;
            this.groupStop = groupStop;
        }

        public int tid() {
            return tid;
        }
    }

    /** Is told what happens, in the thread that traces. What it is told of with born, exec and urgent is held. */
    public interface Listener {
        /** A process was made by a tracee. */
        void born(int pid, Hold hold);

        /**
         * A process has become another program.
         *
         * @param renumbered whether it was not the first thread that called exec
         */
        void exec(int pid, boolean renumbered, Hold hold);

        /**
         * The kernel has sent a thread SIGURG.
         *
         * @return whether it is a breakpoint's, and the thread to be held; else it gets the signal
         */
        boolean urgent(int pid, Hold hold);

        /** A process is gone. */
        void ended(int pid);
    }

    /** A thread that is not running yet. */
    public TracerThread(Host host, boolean withChildren, Listener listener) {
        this.kernel = host.kernel();
        this.processes = new LiveProcesses(host);
        this.withChildren = withChildren;
        this.listener = listener;
    }

    /**
     * Starts it and returns when the process is traced.
     *
     * @throws SyscallException if it can't be
     */
    public void start(int pid) {
        CompletableFuture<Boolean> traced = new CompletableFuture<>();
        // A platform thread: a virtual one changes the thread that the kernel knows.
        thread = Thread.ofPlatform().name("bpf4j-ptrace").daemon().start(() -> run(pid, traced));
        try {
            traced.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof SyscallException refused) {
                throw refused;
            }
            throw e;
        }
    }

    /** Lets a held thread go on. */
    public void resume(Hold hold) {
        resumed.add(hold);
    }

    /** Whether a process is traced, and has not ended. */
    public boolean isTracing(int pid) {
        return processes.has(pid);
    }

    /** Why something may have gone on without being held. */
    public List<String> gaps() {
        synchronized (gaps) {
            return List.copyOf(gaps);
        }
    }

    private void gap(String why) {
        synchronized (gaps) {
            gaps.add(why);
        }
    }

    /** Ends the thread, with which the kernel lets all tracees go on. */
    public void close() {
        closing = true;
        Thread started = thread;
        if (started == null) {
            return;
        }
        boolean interrupted = false;
        try {
            // Perhaps it is not asleep.
            started.join(RELEASED);
            for (LiveProcesses.Wakeable one : processes.wakeable()) {
                if (!started.isAlive()) {
                    break;
                }
                kernel.execute(new ProcessCommand.Signal(one.pid(), one.tid(), Ptrace.SIGURG));
                started.join(WAKE_MILLIS);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(int pid, CompletableFuture<Boolean> traced) {
        try {
            seizeAll(pid);
            traced.complete(true);
            loop();
        } catch (RuntimeException e) {
            if (!traced.completeExceptionally(e)) {
                gap("tracing ended early: " + e.getMessage());
            }
        } finally {
            processes.clear();
        }
    }

    private void loop() {
        while (true) {
            for (Hold hold = resumed.poll(); hold != null; hold = resumed.poll()) {
                release(hold);
            }
            if (closing) {
                return;
            }
            WaitStatus news = kernel.execute(new ProcessCommand.Wait(held.isEmpty()));
            if (news.equals(WaitStatus.NO_TRACEES)) {
                return;
            }
            if (news.equals(WaitStatus.NO_NEWS)) {
                awaitRequest();
            } else if (news.isStop()) {
                stopped(news.tid(), news.signal(), news.event());
            } else {
                ended(news.tid());
            }
        }
    }

    private void awaitRequest() {
        try {
            @Nullable Hold hold = resumed.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
            if (hold != null) {
                release(hold);
            }
        } catch (InterruptedException e) {
            closing = true; // nobody interrupts this thread but who wants it to end
        }
    }

    private Hold hold(int tid, boolean groupStop) {
        Hold hold = new Hold(tid, groupStop);
        held.put(tid, hold);
        return hold;
    }

    private void release(Hold hold) {
        if (held.remove(hold.tid, hold)) {
            go(hold.tid, 0, hold.groupStop);
        }
    }

    private void stopped(int tid, int signal, int event) {
        @Nullable Integer known = tracees.get(tid);
        boolean born = known == null;
        int pid = known == null ? adopt(tid) : known;
        if (event == Ptrace.EVENT_STOP) {
            boolean groupStop = Ptrace.isStopping(signal);
            if (!born || pid != tid) {
                go(tid, 0, groupStop);
            } else if (withChildren) {
                processes.add(pid);
                listener.born(pid, hold(tid, groupStop));
            } else {
                tracees.remove(tid);
                kernel.execute(new ProcessCommand.Detach(tid, 0));
            }
        } else if (event == Ptrace.EVENT_EXEC) {
            exec(tid);
        } else if (event != 0) {
            go(tid, 0, false);
        } else if (signal != Ptrace.SIGURG || !isOurs(pid, tid)) {
            go(tid, signal, false);
        }
    }

    /** Whether a SIGURG needs no delivery: the thread is held for it then, or goes on already. */
    private boolean isOurs(int pid, int tid) {
        ProcessCommand.SignalOrigin.Origin origin;
        try {
            origin = kernel.execute(new ProcessCommand.SignalOrigin(tid));
        } catch (SyscallException e) {
            return false; // it was killed
        }
        if (origin.isThreadSignalOf(self) && closing) {
            go(tid, 0, false);
            return true;
        }
        if (origin.isKernel()) {
            Hold hold = hold(tid, false);
            if (listener.urgent(pid, hold)) {
                return true;
            }
            held.remove(tid, hold);
        }
        return false;
    }

    private void exec(int pid) {
        int former;
        try {
            former = kernel.execute(new ProcessCommand.FormerThread(pid));
        } catch (SyscallException e) {
            return; // it was killed
        }
        tracees.values().removeIf(process -> process == pid);
        tracees.put(pid, pid);
        // A thread that was held and is gone needs no release; its number may be another's soon.
        held.keySet().removeIf(tid -> !tracees.containsKey(tid));
        listener.exec(pid, former != pid, hold(pid, false));
    }

    private void ended(int tid) {
        held.remove(tid);
        @Nullable Integer pid = tracees.remove(tid);
        if (pid != null && pid == tid) {
            processes.remove(pid);
            listener.ended(pid);
        }
    }

    private void go(int tid, int signal, boolean groupStop) {
        // ESRCH: it was killed, and wait4 will tell.
        kernel.execute(groupStop ? new ProcessCommand.Listen(tid) : new ProcessCommand.Continue(tid, signal));
    }

    /** A thread that is seen for the first time. */
    private int adopt(int tid) {
        int pid = processes.processOf(tid);
        tracees.put(tid, pid);
        return pid;
    }

    private int options() {
        int always = Ptrace.TRACE_CLONE | Ptrace.TRACE_EXEC;
        return withChildren ? always | Ptrace.TRACE_FORK | Ptrace.TRACE_VFORK : always;
    }

    /** Traces a process and what it has made so far. What is born from now on is traced by itself. */
    private void seizeAll(int root) {
        kernel.execute(new ProcessCommand.Seize(root, options()));
        tracees.put(root, root);
        Set<Integer> done = new HashSet<>();
        Collection<Integer> left = List.of(root);
        while (!left.isEmpty()) {
            Set<Integer> children = new LinkedHashSet<>();
            for (int pid : left) {
                done.add(pid);
                seizeThreads(pid);
                if (withChildren) {
                    children.addAll(LiveProcesses.childrenOf(pid));
                }
            }
            children.removeAll(done);
            left = children;
        }
    }

    private void seizeThreads(int pid) {
        processes.add(pid);
        boolean found = true;
        Set<Integer> refused = new HashSet<>();
        while (found) {
            found = false;
            for (int tid : processes.threadsOf(pid)) {
                if (!tracees.containsKey(tid) && !refused.contains(tid)) {
                    found = true;
                    if (!seize(pid, tid)) {
                        refused.add(tid);
                    }
                }
            }
        }
    }

    private boolean seize(int pid, int tid) {
        try {
            kernel.execute(new ProcessCommand.Seize(tid, options()));
        } catch (SyscallException e) {
            // EPERM: also of one that was born to a tracee since, and is traced by this thread already.
            if (e.errno() != Errno.ESRCH && !processes.isTracedByThisProcess(tid)) {
                gap("thread " + tid + " of process " + pid + " can't be traced: " + e.getMessage());
            }
            return false;
        }
        tracees.put(tid, pid);
        return true;
    }
}
