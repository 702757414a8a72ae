package io.bpf4j.trace;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Repeats a check of things that may change while a question runs: about once a second, more rarely if a check takes
 * long, and on request. <i>Thread-safe.</i>
 *
 * <p>The checks run on their own thread. A network file system may not respond for minutes, and the reader of events,
 * which continues paused processes, must not wait for it. And a program that only reads the answer need not poll.
 *
 * <p>Tested by {@code LookoutTest}.
 */
final class Lookout implements AutoCloseable {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The minimum time between two checks, as a multiple of the duration of a check. */
    private static final int REST_FACTOR = 100;

    /** A check that took this long is not repeated on request: the checked files may belong to other users. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long the result of a slow check is used, as a multiple of its duration. */
    private static final int FRESH_FACTOR = 10;

    /** How long to wait for a check. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Runnable look;
    private final long patienceNanos;
    private final LongSupplier clock;
    private @Nullable Thread thread;
    private boolean ended;
    private boolean requested;
    private boolean looking;

    /** When the check in progress, or the last one, began. */
    private long began;

    private long duration;

    /** When the last check was finished, if there was one. */
    private long finished;

    /** How many checks have begun; all except the one in progress have finished, or the last one has failed. */
    private long begun;

    /** Why there are no more checks; empty if there are. */
    private Optional<String> failure = Optional.empty();

    /** The result of the final check. */
    private Optional<String> last = Optional.empty();

    Lookout(Runnable look) {
        this(look, PATIENCE_NANOS, System::nanoTime);
    }

    /** @param clock the clock by which the duration of a check is measured */
    Lookout(Runnable look, long patienceNanos, LongSupplier clock) {
        this.look = look;
        this.patienceNanos = patienceNanos;
        this.clock = clock;
    }

    /** Starts the checks; further calls do nothing. */
    synchronized void start() {
        if (thread == null && !ended) {
            thread = Thread.ofPlatform().name("bpf4j lookout").daemon().start(this::run);
        }
    }

    private void run() {
        try {
            while (awaitTurn()) {
                long start = clock.getAsLong();
                look.run();
                finished(start);
            }
        } catch (RuntimeException | Error e) {
            failed(e.toString());
        } catch (InterruptedException e) {
            failed("the thread was interrupted");
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean awaitTurn() throws InterruptedException {
        long end = System.nanoTime() + Math.max(INTERVAL_NANOS, REST_FACTOR * duration);
        while (!ended && !requested) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        requested = false;
        looking = !ended;
        began = System.nanoTime();
        begun++;
        return looking;
    }

    private synchronized void finished(long start) {
        looking = false;
        finished = clock.getAsLong();
        duration = finished - start;
        notifyAll();
    }

    private synchronized void failed(String why) {
        looking = false;
        failure = Optional.of(why);
        notifyAll();
    }

    /**
     * Waits for a check that begins after this call, at most five seconds; if a check does not finish for that long,
     * only its first caller waits. After a slow check there is none for ten times as long, and no caller waits. An
     * interrupt does not end the wait; the thread stays interrupted.
     *
     * @return why there was no check; empty if there was one, if there is nothing to check, or if this has been closed
     */
    synchronized Optional<String> now() {
        boolean recent = duration >= SLOW_NANOS && clock.getAsLong() - finished < FRESH_FACTOR * duration;
        return recent && !looking && failure.isEmpty() && !ended ? Optional.empty() : another();
    }

    private Optional<String> another() {
        if (thread == null || ended) {
            return last;
        }
        long wanted = begun + 1;
        long since = System.nanoTime();
        requested = true;
        notifyAll();
        boolean interrupted = false;
        while (failure.isEmpty() && !ended && (begun < wanted || (looking && begun == wanted))) {
            long left = (looking ? began : since) + patienceNanos - System.nanoTime();
            if (left <= 0) {
                break;
            }
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (ended) {
            return last;
        }
        if (failure.isPresent()) {
            return failure;
        }
        boolean looked = begun > wanted || (begun == wanted && !looking);
        return looked
                ? Optional.empty()
                : Optional.of("there was no answer for " + TimeUnit.NANOSECONDS.toMillis(patienceNanos) + " ms");
    }

    /** Makes the final check, as {@link #now} does: later changes don't matter. */
    synchronized void end() {
        if (!ended) {
            last = another();
            close();
        }
    }

    /** Ends the checks. Does not wait for the check in progress. */
    @Override
    public synchronized void close() {
        ended = true;
        notifyAll();
    }
}
