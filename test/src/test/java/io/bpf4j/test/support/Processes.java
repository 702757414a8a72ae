package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Ends processes that a test has started, and returns when they have ended. A process that is only killed lives on for a
 * while: it keeps the test's files open, its mounts busy and its probes firing, while the next test has begun.
 */
public final class Processes {
    private Processes() {}

    /** Kills a process and all processes below it, and waits until all have ended. */
    public static void end(Process process) {
        List<ProcessHandle> below = process.descendants().toList();
        process.destroyForcibly();
        below.forEach(ProcessHandle::destroyForcibly);
        try {
            process.waitFor();
            for (ProcessHandle handle : below) {
                awaitEnd(handle.pid());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while process " + process.pid() + " ended", e);
        }
    }

    /** {@link #end(Process)} for try-with-resources. */
    public static Ended endAfterwards(Process process) {
        return () -> end(process);
    }

    /** Closing ends a process. */
    public interface Ended extends AutoCloseable {
        @Override
        void close();
    }

    /** Waits until a process has ended, whoever is its parent. */
    public static void awaitEnd(long pid) throws IOException, InterruptedException {
        Await.until("process " + pid + " has ended", () -> hasEnded(pid));
    }

    /**
     * Whether a process is gone, or a zombie: nobody may wait for it, for instance in a container whose first process
     * does not. A zombie has given back its memory, files and namespaces once it has no other thread.
     */
    public static boolean hasEnded(long pid) throws IOException {
        Path folder = Path.of("/proc", Long.toString(pid));
        try {
            // "4711 (name) Z 1 …", proc_pid_stat(5); the name may have parentheses, and bytes that are not UTF-8.
            String stat = Files.readString(folder.resolve("stat"), StandardCharsets.ISO_8859_1);
            if ("ZX".indexOf(stat.charAt(stat.lastIndexOf(')') + 2)) < 0) {
                return false;
            }
            try (Stream<Path> threads = Files.list(folder.resolve("task"))) {
                return threads.count() <= 1;
            }
        } catch (NoSuchFileException e) {
            return true;
        } catch (IOException | UncheckedIOException e) {
            // ESRCH: it ended between open and read.
            if (!Files.exists(folder)) {
                return true;
            }
            throw e;
        }
    }
}
