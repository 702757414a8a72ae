package io.bpf4j.test.support;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A pid namespace with a {@code /proc} of its own. Whoever looks at all processes there sees those of one test, and
 * nothing else that runs on the machine. Needs {@code PID_NAMESPACES} and {@code MOUNT_NAMESPACES}. <em>Confined.</em>
 *
 * <p>Close what runs in it first, and by its standard input: a process that was killed with its parent is a zombie
 * until somebody waits for it, and the namespace does not end before (zap_pid_ns_processes in kernel/pid_namespace.c).
 */
public final class OwnPidNamespace extends LineProcess {
    private final long first;

    /** Its first process ends with its standard input, and with it the namespace. */
    public OwnPidNamespace() throws IOException {
        super(new ProcessBuilder(
                "unshare", "--mount", "--pid", "--fork", "--mount-proc", "sh", "-c", "echo ready; exec cat"));
        first = ProcessHandle.of(pid())
                .flatMap(unshare -> unshare.children().findFirst())
                .orElseThrow()
                .pid();
    }

    /** The machine with the processes in it. */
    public Host host() {
        return Host.running().withProc(Path.of("/proc", Long.toString(first), "root/proc"));
    }

    /** A command line that runs a command in it, and ends as the command does. */
    public List<String> inside(List<String> command) {
        List<String> line =
                new ArrayList<>(List.of("nsenter", "--target", Long.toString(first), "--mount", "--pid", "--"));
        line.addAll(command);
        return line;
    }
}
