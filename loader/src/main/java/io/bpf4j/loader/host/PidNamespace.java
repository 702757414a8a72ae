package io.bpf4j.loader.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A pid namespace, as the helper {@code bpf_get_ns_current_pid_tgid} (Linux 5.7) identifies it. Inside a container a
 * process has another pid than outside; a BPF program that knows this process's namespace reports pids that this process
 * knows. <i>Immutable.</i>
 *
 * @param device number of the file system that contains namespaces
 * @param inode number of the namespace there; 0 for the initial namespace
 */
public record PidNamespace(long device, long inode) {
    /** The namespace of this process; the initial namespace if /proc doesn't tell. */
    public static PidNamespace own() {
        Path link = Host.running().self().resolve("ns/pid");
        try {
            return new PidNamespace(
                    (Long) Files.getAttribute(link, "unix:dev"), (Long) Files.getAttribute(link, "unix:ino"));
        } catch (IOException | UnsupportedOperationException e) {
            return new PidNamespace(0, 0);
        }
    }
}
