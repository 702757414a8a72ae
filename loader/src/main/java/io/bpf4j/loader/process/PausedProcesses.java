package io.bpf4j.loader.process;

import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.ProcessCommand;
import io.bpf4j.loader.internal.sys.Ptrace;
import io.bpf4j.loader.kernel.Errno;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Processes that a BPF program has stopped by SIGSTOP ({@code bpf_send_signal_thread}, Linux 5.6) until the reader of
 * its ring buffer has caught up. The reader has to send a SIGCONT to each. <i>Thread-safe.</i>
 *
 * <p>The program sends the signal before it submits the record that tells of it. So a reader that adds the process of
 * such a record and then calls {@link #resume} is never too early: SIGCONT cancels each SIGSTOP that was sent before it,
 * even one that no thread has noticed yet.
 *
 * <p>The kernel does not tell who has stopped a process. If somebody else stops a process of this set, {@link #resume}
 * continues it all the same. A process that is not in the set stays stopped.
 *
 * <p>Tested by {@code CliLosslessTest}.
 */
public final class PausedProcesses {
    private final Host host = Host.running();
    private final Set<Integer> pids = ConcurrentHashMap.newKeySet();

    /** An empty set. */
    public PausedProcesses() {}

    /** Whether this process may send signals to a process. For a process of another user it needs CAP_KILL. */
    public boolean mayResume(int pid) {
        return send(pid, 0) != Errno.EPERM.number();
    }

    /** Adds a process that the program has stopped. */
    public void add(int pid) {
        pids.add(pid);
    }

    /**
     * Continues all processes of the set, and removes them.
     *
     * @return the processes that are still stopped, because this process may not send them signals
     */
    public List<Integer> resume() {
        if (pids.isEmpty()) {
            return List.of();
        }
        List<Integer> all = List.copyOf(pids);
        // Removed first: a process that is stopped again is added again.
        all.forEach(pids::remove);
        return all.stream()
                .filter(pid -> send(pid, Ptrace.SIGCONT) == Errno.EPERM.number())
                .toList();
    }

    /**
     * Continues all processes of the set, and those of {@code others} that are stopped: their records may
     * not have been read. This also continues a process that somebody else has stopped.
     *
     * @return as {@link #resume}
     */
    public List<Integer> resumeWith(Collection<Integer> others) {
        others.stream().filter(this::isStopped).forEach(this::add);
        return resume();
    }

    private boolean isStopped(int pid) {
        try {
            return Files.readString(host.process(pid).resolve("status"), StandardCharsets.ISO_8859_1)
                    .contains("\nState:\tT");
        } catch (IOException e) {
            return false;
        }
    }

    private int send(int pid, int signal) {
        return host.kernel().execute(new ProcessCommand.Signal(pid, pid, signal));
    }
}
