package io.bpf4j.test.support;

import java.nio.file.Files;
import java.nio.file.Path;

/** The file system that gives tracepoints their numbers; minimal systems don't mount it. */
final class TraceFs {
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/events");

    private TraceFs() {}

    /** Whether it is mounted, after an attempt to mount it. */
    static synchronized boolean isMounted() {
        if (Files.isDirectory(EVENTS) || Files.isDirectory(Path.of("/sys/kernel/debug/tracing/events"))) {
            return true;
        }
        // Whoever mounts it first mounts it for all; that the second one fails is no harm.
        return Commands.succeeds("mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing")
                || Files.isDirectory(EVENTS);
    }
}
