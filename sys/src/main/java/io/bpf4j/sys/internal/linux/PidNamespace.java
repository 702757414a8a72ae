package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A pid namespace, as the helper {@code bpf_get_ns_current_pid_tgid} (Linux 5.7) identifies it. Inside a container a
 * process has a different pid than outside; a BPF program that knows this process's namespace reports pids that are
 * valid in it. <i>Immutable.</i>
 *
 * @param device number of the file system that contains namespaces
 * @param inode number of the namespace there; 0 for the initial namespace
 */
public record PidNamespace(long device, long inode) {
    /** PROC_PID_INIT_INO in include/linux/proc_ns.h; the kernel gives other namespaces other numbers. */
    private static final long INITIAL = 0xefff_fffcL;

    /** The namespace of this process; the initial namespace if /proc does not show it. */
    public static PidNamespace own(Host host) {
        try {
            return in(host.self());
        } catch (IOException | UnsupportedOperationException e) {
            return new PidNamespace(0, 0);
        }
    }

    /**
     * The namespace of a process.
     *
     * @throws IOException if the process has ended, or this process is not permitted to read its namespace
     */
    public static PidNamespace of(Host host, int pid) throws IOException {
        return in(host.process(pid));
    }

    private static PidNamespace in(Path process) throws IOException {
        Path link = process.resolve("ns/pid");
        long inode = (Long) Files.getAttribute(link, "unix:ino");
        // In the initial namespace every helper returns the same pids: a program need not select a namespace.
        return inode == INITIAL
                ? new PidNamespace(0, 0)
                : new PidNamespace((Long) Files.getAttribute(link, "unix:dev"), inode);
    }

    /** Whether it is the initial namespace of the machine. */
    public boolean isInitial() {
        return inode == 0;
    }
}
