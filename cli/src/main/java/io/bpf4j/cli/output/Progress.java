package io.bpf4j.cli.output;

import java.time.Duration;

/**
 * Shows the work of a command if it takes longer than a second. The text is one line on standard error, which is
 * overwritten, and which {@link #close} removes. It is shown only at a terminal.
 *
 * <p><i>Confined.</i> A thread of its own writes the line, because the work is one call that blocks.
 *
 * <p>Tested by {@code ProgressTest}.
 */
public final class Progress implements AutoCloseable {
    private static final Duration DELAY = Duration.ofSeconds(1);

    private final Console console;
    private final String work;
    private final long begin = System.nanoTime();
    private boolean ended;

    Progress(Console console, String work, Duration delay) {
        this.console = console;
        this.work = work;
        if (console.showsProgress()) {
            Thread.ofPlatform().name("bpf4j-progress").daemon().start(() -> show(delay));
        }
    }

    /**
     * Starts to show the progress of some work.
     *
     * @param work the work: {@code searching all processes for probes}
     */
    public static Progress of(Console console, String work) {
        return new Progress(console, work, DELAY);
    }

    private synchronized void show(Duration delay) {
        try {
            while (!ended) {
                long left = delay.toNanos() - (System.nanoTime() - begin);
                if (left <= 0) {
                    console.progress("bpf4j: " + work + ", "
                            + Duration.ofNanos(System.nanoTime() - begin).toSeconds() + " s");
                }
                wait(left > 0 ? Math.max(1, left / 1_000_000) : DELAY.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Ends the work: removes the line, if it is shown. */
    @Override
    public synchronized void close() {
        ended = true;
        notifyAll();
        console.progress("");
    }
}
