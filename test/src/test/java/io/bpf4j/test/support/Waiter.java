package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A thread that calls something that waits; the kernel tells whether it does. */
public final class Waiter<T> {
    private static final AtomicInteger COUNT = new AtomicInteger();

    /** The kernel keeps 15 bytes of it. */
    private final String name = "waiter-" + COUNT.incrementAndGet();

    private volatile @Nullable Thread caller;
    private final CompletableFuture<T> result;

    private Waiter(Supplier<T> work) {
        result = CompletableFuture.supplyAsync(
                () -> {
                    caller = Thread.currentThread();
                    return work.get();
                },
                task -> Thread.ofPlatform().daemon().name(name).start(task));
    }

    /** Calls {@code work} in a thread of its own. */
    public static <T> Waiter<T> start(Supplier<T> work) {
        return new Waiter<>(work);
    }

    /** What {@code work} gave, or threw. */
    public CompletableFuture<T> result() {
        return result;
    }

    /** Interrupts the thread, after {@link #awaitAsleep}. */
    public void interrupt() {
        Objects.requireNonNull(caller, "awaitAsleep comes first").interrupt();
    }

    /** Returns once the thread sleeps in the kernel, in a system call or for a lock. */
    public void awaitAsleep() throws IOException, InterruptedException {
        Await.until("thread " + name + " sleeps in the kernel", () -> {
            if (result.isDone()) {
                throw new AssertionError("it did not wait: " + result);
            }
            return caller != null && isAsleep();
        });
    }

    private boolean isAsleep() throws IOException {
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
            for (Path task : tasks) {
                // "4711 (waiter-1) S …": proc_pid_stat(5)
                if (stat(task).contains("(" + name + ") S ")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static String stat(Path task) throws IOException {
        try {
            return Files.readString(task.resolve("stat"));
        } catch (NoSuchFileException e) {
            return ""; // it has ended
        }
    }
}
