package io.bpf4j.cli.otlp;

import io.bpf4j.cli.output.Console;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * Says what becomes of pushes: what is new, and not at each interval. A collector may answer differently each time, so an
 * hour has a limited number of messages. <i>Confined.</i>
 *
 * <p>Tested by {@code TalkTest}.
 */
final class Talk {
    /** Messages in an hour. */
    static final int MOST = 10;

    private static final Duration PERIOD = Duration.ofHours(1);

    private final Console console;
    private final LongSupplier nanoTime;

    /** The kinds of outcomes that were said since all was well. */
    private final Set<String> said = new HashSet<>();

    /** Whether the message that all is well again is due. */
    private boolean troubled;

    private long periodStart;
    private int inPeriod;

    Talk(Console console, LongSupplier nanoTime) {
        this.console = console;
        this.nanoTime = nanoTime;
        periodStart = nanoTime.getAsLong();
    }

    /** @param inARow failed pushes until now, with this one */
    void say(Outcome outcome, URI endpoint, long inARow) {
        if (outcome.kind().equals("cut")) {
            return; // by the end of the agent, whose last push follows
        }
        if (outcome.taken() && outcome.text().isEmpty()) {
            said.clear();
            if (troubled) {
                troubled = false;
                print("bpf4j: otlp: " + endpoint + " takes pushes again, with all events since the start");
            }
            return;
        }
        // The period is checked first: a kind that was not printed may be printed later.
        if (!said.contains(outcome.kind())
                && print("bpf4j: otlp: " + endpoint + ": " + outcome.said()
                        + (outcome.taken() || inARow > 1 ? "" : "; later pushes have these events, too"))) {
            boolean _ = said.add(outcome.kind());
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
        console.error(line + (inPeriod < MOST ? "" : " (the next messages about pushes are left out for an hour)"));
        return true;
    }
}
