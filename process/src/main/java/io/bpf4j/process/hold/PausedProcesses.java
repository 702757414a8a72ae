package io.bpf4j.process.hold;

import io.bpf4j.process.Tasks;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ProcessCommand;
import io.bpf4j.sys.internal.call.Ptrace;
import io.bpf4j.sys.internal.linux.PidNamespace;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import org.jspecify.annotations.Nullable;

/**
 * Processes that a BPF program has stopped by SIGSTOP ({@code bpf_send_signal_thread}, Linux 5.6) until the reader of
 * its ring buffer has caught up. The reader has to send a SIGCONT to each. <i>Thread-safe.</i>
 *
 * <p>The program sends the signal before it submits the record that reports it. So a reader that adds the process of
 * such a record and then calls {@link #resume} is never too early: SIGCONT cancels each SIGSTOP that was sent before
 * it, even one that no thread has handled yet.
 *
 * <p>The kernel does not report who has stopped a process. If another process stops a process of this set, {@link
 * #resume} continues it anyway. A process that is not in the set stays stopped.
 *
 * <p>If this process is killed, a shell that it has started continues those of {@link #mayStop} that are stopped,
 * whoever stopped them. {@link #close} ends the shell, and continues no process.
 *
 * <p>Tested by {@code CliLosslessTest}.
 */
public final class PausedProcesses implements AutoCloseable {
    private final Host host = Host.running();

    /** Processes that were stopped, and not continued since. */
    private final Set<Integer> pids = ConcurrentHashMap.newKeySet();

    /** Processes that the program may stop. */
    private final Set<Integer> traced = ConcurrentHashMap.newKeySet();

    private final Set<Integer> stuck = new ConcurrentSkipListSet<>();
    private @Nullable ResumingShell shell;
    private boolean closed;

    /** An empty set. */
    public PausedProcesses() {}

    /**
     * Why a process must not be stopped: this process could not continue it. A program stops only processes whose pids
     * it can report to this process.
     *
     * @return empty if there is no such reason
     */
    public static Optional<String> obstacle(int pid) {
        if (pid == ProcessHandle.current().pid()) {
            return Optional.of("a process can't continue itself");
        }
        if (new PausedProcesses().send(pid, 0) == Errno.EPERM.number()) {
            return Optional.of(
                    "process " + pid + " belongs to another user: bpf4j needs CAP_KILL to continue it after a pause");
        }
        return hasKnownPid(pid)
                ? ResumingShell.obstacle()
                : Optional.of("bpf4j is not in the initial pid namespace, and process " + pid
                        + " is in another one: the program"
                        + " can't report the pid by which bpf4j can continue it; run bpf4j in the initial pid namespace"
                        + " or in that of the process");
    }

    /** Whether a program can report that pid to this process: in this process's namespace, or in the initial one. */
    private static boolean hasKnownPid(int pid) {
        Host host = Host.running();
        PidNamespace own = PidNamespace.own(host);
        try {
            return own.isInitial() || own.equals(PidNamespace.of(host, pid));
        } catch (IOException e) {
            // The process has ended, or its namespace can't be read; then the program compares the namespaces.
            return true;
        }
    }

    /**
     * Registers a process that the program may stop, for {@link #resumeAll} and for the shell. Must be called before
     * the program is attached to it.
     *
     * @throws BpfException if the shell can't be started
     */
    public void mayStop(int pid) {
        traced.add(pid);
        addToShell(pid);
    }

    /** Adds a process that the program has stopped. */
    public void add(int pid) {
        pids.add(pid);
        if (traced.add(pid)) { // between vfork and exec a child hits the probes of its parent
            addToShell(pid);
        }
    }

    private synchronized void addToShell(int pid) {
        if (closed) {
            return;
        }
        try {
            if (shell != null) {
                shell.add(pid);
                return;
            }
        } catch (IOException e) {
            shell = null; // the shell has ended
        }
        try {
            ResumingShell started = ResumingShell.start(host);
            shell = started;
            for (int each : traced) {
                started.add(each);
            }
        } catch (IOException e) {
            throw new BpfException(
                    "start the shell that continues process " + pid + " if this process is killed during a pause: "
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * Continues all processes of the set, and removes them. Those that this process may not send signals are {@link
     * #stuck} from now on.
     */
    public void resume() {
        if (pids.isEmpty()) {
            return;
        }
        List<Integer> all = List.copyOf(pids);
        // Removed first: a process that is stopped again is added again.
        all.forEach(pids::remove);
        all.stream()
                .filter(pid -> send(pid, Ptrace.SIGCONT) == Errno.EPERM.number())
                .forEach(stuck::add);
    }

    /**
     * Continues all processes of the set, and those of {@link #mayStop} that are stopped: their records may not have
     * been read. This also continues a process that another process has stopped.
     */
    public void resumeAll() {
        Tasks files = new Tasks(host);
        traced.stream()
                .filter(pid -> files.status(pid, "State").startsWith("T"))
                .forEach(this::add);
        resume();
    }

    /** The processes that are still stopped, because this process may not send them signals; a view. */
    public Set<Integer> stuck() {
        return Collections.unmodifiableSet(stuck);
    }

    /** Ends the shell: if this process is killed later, no shell continues the processes. */
    @Override
    public synchronized void close() {
        closed = true;
        if (shell != null) {
            shell.close();
        }
    }

    private int send(int pid, int signal) {
        return Kernel.of(host).execute(new ProcessCommand.Signal(pid, pid, signal));
    }
}
