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
 * Processes that a BPF program has stopped by SIGSTOP ({@code bpf_send_signal_thread}, Linux 5.6), until the reader of its ring
 * buffer has caught up: the reader owes each a SIGCONT. <i>Thread-safe.</i>
 *
 * <p>The program sends the signal before it submits the record that tells of it. So a reader that adds the process of
 * such a record and then calls {@link #resume} is never too early: SIGCONT cancels each SIGSTOP that was sent before it,
 * even one that no thread has noticed yet.
 *
 * <p>The kernel does not tell who has stopped a process. A stop by its user lasts if it comes while the process is not
 * in this set; otherwise the SIGCONT ends it, too.
 *
 * <p>Tested by {@code CliLosslessTest}.
 */
public final class PausedProcesses {
    private final Host host = Host.running();
    private final Set<Integer> pids = ConcurrentHashMap.newKeySet();

    /** An empty set. */
    public PausedProcesses() {}

    /** Whether this process may send signals to a process: it may not without CAP_KILL, if that one is another user's. */
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
     * @return those that are still stopped, because this process may not send them signals
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

    /** The same, and continues others of these processes that are stopped: their records may not have been read. */
    public void resumeWith(Collection<Integer> others) {
        others.stream().filter(this::isStopped).forEach(this::add);
        resume();
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
