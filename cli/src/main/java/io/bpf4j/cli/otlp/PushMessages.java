package io.bpf4j.cli.otlp;

import io.bpf4j.cli.output.Console;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Prints messages about pushes: each kind of failure once, not at each interval. A collector may respond differently
 * each time, so the number of messages in an hour is limited. <i>Confined.</i>
 *
 * <p>Tested by {@code PushMessagesTest}.
 */
final class PushMessages {
    /** The maximum number of messages in an hour. */
    static final int MOST = 10;

    private static final Duration PERIOD = Duration.ofHours(1);

    private final Console console;
    private final LongSupplier nanoTime;

    /** The kinds of outcomes that were reported since the last push without a problem. */
    private final Set<String> reported = new HashSet<>();

    /** Whether a problem was reported, so that its end is reported, too. */
    private boolean troubled;

    private long periodStart;
    private int inPeriod;

    PushMessages(Console console, LongSupplier nanoTime) {
        this.console = console;
        this.nanoTime = nanoTime;
        periodStart = nanoTime.getAsLong();
    }

    /** @param inARow the number of failed pushes in a row, including this one */
    void report(Outcome outcome, URI endpoint, long inARow) {
        if (outcome.kind().equals("cut")) {
            return; // the agent is ending, and its last push follows
        }
        if (outcome.taken() && outcome.text().isEmpty()) {
            reported.clear();
            if (troubled) {
                troubled = false;
                print("bpf4j: otlp: " + endpoint + " accepts pushes again, with all events since the start");
            }
            return;
        }
        // The period is checked first: a kind that was not printed may be printed later.
        if (!reported.contains(outcome.kind())
                && print("bpf4j: otlp: " + endpoint + ": " + outcome.message()
                        + (outcome.taken() || inARow > 1 ? "" : "; later pushes will include these events"))) {
            boolean _ = reported.add(outcome.kind());
            troubled = true;
        }
    }

    private boolean print(String line) {
        long now = nanoTime.getAsLong();
        if (now - periodStart >= PERIOD.toNanos()) {
            periodStart = now;
            inPeriod = 0;
        }
        if (inPeriod == MOST) {
            return false;
        }
        inPeriod++;
        console.error(line + (inPeriod < MOST ? "" : " (more messages about pushes in this hour are not printed)"));
        return true;
    }
}
