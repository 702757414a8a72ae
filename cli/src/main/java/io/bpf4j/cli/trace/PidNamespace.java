package io.bpf4j.cli.trace;

import io.bpf4j.loader.host.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A pid namespace, as the kernel names it to BPF programs. Inside a container a process has another number than outside;
 * the tracer shows those that its user knows, which are the ones of its own namespace. <b>Immutable</b>.
 *
 * @param device number of the file system that namespaces live in
 * @param inode number of the namespace there; 0 for the initial namespace
 */
record PidNamespace(long device, long inode) {
    /** The namespace of this process; the initial one where /proc doesn't tell. */
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
