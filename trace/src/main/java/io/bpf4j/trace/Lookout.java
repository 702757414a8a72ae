package io.bpf4j.trace;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks again and again at what may change while a question runs: about once a second, more rarely if a look takes
 * long, and when somebody asks. <i>Thread-safe.</i>
 *
 * <p>A thread of its own looks. A file system of a network may not answer for minutes, and the reader of events, who
 * continues paused processes, must not wait for it. And a program that only reads the answer need not poll.
 *
 * <p>Tested by {@code LookoutTest}.
 */
final class Lookout implements AutoCloseable {
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** The minimum time between two looks, as a multiple of the duration of a look. */
    private static final int REST_FACTOR = 100;

    /** A look that took this long is not made anew for whoever asks: what is looked at may belong to others. */
    private static final long SLOW_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long the result of a slow look is taken, as a multiple of its duration. */
    private static final int FRESH_FACTOR = 10;

    /** How long to wait for a look. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Runnable look;
    private final long patienceNanos;
    private final LongSupplier clock;
    private @Nullable Thread thread;
    private boolean ended;
    private boolean asked;
    private boolean looking;

    /** When the look began that is under way, or the last one. */
    private long began;

    private long duration;

    /** When the last look was finished, if there was one: then it has a duration. */
    private long finished;

    /** How many looks have begun; all but the one under way have finished, or the last one has failed. */
    private long begun;

    /** Why there are no more looks; empty if there are. */
    private Optional<String> failure = Optional.empty();

    /** What the last look of all had to say. */
    private Optional<String> last = Optional.empty();

    Lookout(Runnable look) {
        this(look, PATIENCE_NANOS, System::nanoTime);
    }

    /** @param clock by which the duration of a look is measured */
    Lookout(Runnable look, long patienceNanos, LongSupplier clock) {
        this.look = look;
        this.patienceNanos = patienceNanos;
        this.clock = clock;
    }

    /** Starts to look; further calls do nothing. */
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
        while (!ended && !asked) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                break;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        asked = false;
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
     * Waits for a look that begins after this call, at most five seconds; if a look does not finish for so long, only
     * its first caller waits. After a slow look there is none for ten times as long, and nobody waits. An interrupt does
     * not end the wait; the thread stays interrupted.
     *
     * @return why there was none; empty if there was one, if nothing is looked at, or if this has been closed
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
        asked = true;
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

    /** Looks for the last time, as {@link #now}: from now on nothing that happens matters. */
    synchronized void end() {
        if (!ended) {
            last = another();
            close();
        }
    }

    /** Looks no more. Does not wait for the look that is under way. */
    @Override
    public synchronized void close() {
        ended = true;
        notifyAll();
    }
}
