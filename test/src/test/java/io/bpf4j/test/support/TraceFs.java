package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The file system that gives tracepoints their numbers; minimal systems don't mount it. */
final class TraceFs {
    private static final Path EVENTS = Path.of("/sys/kernel/tracing/events");

    private TraceFs() {}

    /** Whether it is mounted, after an attempt to mount it. */
    static synchronized boolean isMounted() {
        if (Files.isDirectory(EVENTS) || Files.isDirectory(Path.of("/sys/kernel/debug/tracing/events"))) {
            return true;
        }
        try {
            Commands.run(List.of("mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"));
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return Files.isDirectory(EVENTS);
    }
}
