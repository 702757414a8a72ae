package io.bpf4j.loader.link;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Links that are being closed in the background, and how many are left. <i>Thread-safe.</i>
 *
 * <p>For perf uprobes the kernel waits about a tenth of a second for each, one after the other, whoever closes them: five
 * hundred sites take a minute. A caller who has something better to do starts that here. The thread is a daemon: if the
 * process ends first, the kernel closes the rest, and lets the process go only then.
 */
public final class Detaching {
    private final int total;
    private final AtomicInteger left;
    private final CountDownLatch done = new CountDownLatch(1);
    private volatile @Nullable RuntimeException failure;

    private Detaching(int total) {
        this.total = total;
        this.left = new AtomicInteger(total);
    }

    /**
     * Starts the closing; does all of it at once where the process may have no more threads.
     *
     * @param total links to close
     * @param work closes them; calls its argument each time that one is closed
     */
    public static Detaching start(int total, Consumer<Runnable> work) {
        Detaching detaching = new Detaching(total);
        try {
            Thread.ofPlatform().name("bpf4j-detach").daemon().start(() -> detaching.run(work));
        } catch (OutOfMemoryError e) {
            // The process may have no more threads (RLIMIT_NPROC, pids.max). Nobody else would close them.
            detaching.run(work);
        }
        return detaching;
    }

    /** One where nothing is left to do. */
    public static Detaching finished() {
        Detaching detaching = new Detaching(0);
        detaching.done.countDown();
        return detaching;
    }

    private void run(Consumer<Runnable> work) {
        try {
            work.accept(left::decrementAndGet);
        } catch (RuntimeException e) {
            failure = e;
        } finally {
            done.countDown();
        }
    }

    /** Links that there were to close. */
    public int total() {
        return total;
    }

    /** Links that are not closed yet. */
    public int left() {
        return Math.max(0, left.get());
    }

    /** Whether all is done, also what follows the last link. */
    public boolean isDone() {
        return done.getCount() == 0;
    }

    /** Waits until all is done, or the time is over; tells which. */
    public boolean await(Duration atMost) throws InterruptedException {
        return done.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** The first failure, with the others suppressed; empty while there is none. Each link was tried nevertheless. */
    public Optional<RuntimeException> failure() {
        return Optional.ofNullable(failure);
    }
}
