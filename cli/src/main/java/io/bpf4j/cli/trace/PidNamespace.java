package io.bpf4j.cli.trace;

import io.bpf4j.loader.host.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A pid namespace, as BPF programs identify it. Inside a container a process has another pid than outside; the tracer
 * shows the pids of its own namespace. <b>Immutable</b>.
 *
 * @param device number of the file system that contains namespaces
 * @param inode number of the namespace there; 0 for the initial namespace
 */
record PidNamespace(long device, long inode) {
    /** The namespace of this process; the initial namespace if /proc doesn't tell. */
    static PidNamespace own() {
        Path link = Host.running().self().resolve("ns/pid");
        try {
            return new PidNamespace(
                    (Long) Files.getAttribute(link, "unix:dev"), (Long) Files.getAttribute(link, "unix:ino"));
        } catch (IOException | UnsupportedOperationException e) {
            return new PidNamespace(0, 0);
        }
    }
}
