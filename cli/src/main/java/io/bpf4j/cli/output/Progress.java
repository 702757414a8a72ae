package io.bpf4j.cli.output;

import java.time.Duration;

/**
 * Says what a command is doing if that takes longer than a second. The text is one line on standard error, which is
 * overwritten, and which {@link #close} removes. It is shown only at a terminal.
 *
 * <p><i>Confined.</i> A thread of its own writes the line, because the work is one call that blocks.
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
     * Starts to show the progress of some work.
     *
     * @param what the work: {@code searching all processes for probes}
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

    /** Ends the work: removes the line, if it is shown. */
    @Override
    public synchronized void close() {
        over = true;
        notifyAll();
        console.progress("");
    }
}
