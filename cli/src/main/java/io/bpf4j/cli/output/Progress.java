package io.bpf4j.cli.output;

import java.time.Duration;

/**
 * Says what a command is doing while that takes longer than a second: one line on standard error, which is overwritten,
 * and removed by {@link #close}. Only at a terminal; a file gets nothing of it.
 *
 * <p><i>Confined</i>; the line is written by a thread of its own, since the work that is waited for is one call.
 *
 * <p>Tested by {@code ProgressTest}.
 */
public final class Progress implements AutoCloseable {
    private static final Duration LATER = Duration.ofSeconds(1);

    private final Console console;
    private final String what;
    private final long begin = System.nanoTime();
    private boolean over;

    Progress(Console console, String what, Duration later) {
        this.console = console;
        this.what = what;
        if (console.showsProgress()) {
            Thread.ofPlatform().name("bpf4j-progress").daemon().start(() -> show(later));
        }
    }

    /**
     * Starts to show the work.
     *
     * @param what the command does: {@code searching all processes for probes}
     */
    public static Progress of(Console console, String what) {
        return new Progress(console, what, LATER);
    }

    private synchronized void show(Duration later) {
        try {
            while (!over) {
                long left = later.toNanos() - (System.nanoTime() - begin);
                if (left <= 0) {
                    console.progress("bpf4j: " + what + ", "
                            + Duration.ofNanos(System.nanoTime() - begin).toSeconds() + " s");
                }
                wait(left > 0 ? Math.max(1, left / 1_000_000) : LATER.toMillis());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The work is done: removes the line, if there is one. */
    @Override
    public synchronized void close() {
        over = true;
        notifyAll();
        console.progress("");
    }
}
