package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class TalkTest {
    private static final URI ENDPOINT = URI.create("http://c/v1/metrics");
    private static final Outcome TAKEN = new Outcome(true, "taken", "", "", 0, false, Duration.ZERO);

    private final StringWriter err = new StringWriter();
    private long now;
    private final Talk talk =
            new Talk(new Console(OutputStream.nullOutputStream(), err, Reader.nullReader()), () -> now);

    private List<String> lines() {
        return err.toString().lines().toList();
    }

    @Test
    void aFailureIsSaidOnceAndItsEndToo() {
        talk.say(TAKEN, ENDPOINT, 0);
        assertThat(lines()).isEmpty();
        for (int i = 1; i < 100; i++) {
            talk.say(
                    new Outcome(false, "status 500", "it answers with status 500", "" + i, 0, false, Duration.ZERO),
                    ENDPOINT,
                    i);
        }
        talk.say(TAKEN, ENDPOINT, 0);
        talk.say(TAKEN, ENDPOINT, 0);
        assertThat(lines())
                .containsExactly(
                        "bpf4j: otlp: http://c/v1/metrics: it answers with status 500; it says: '1'; later pushes have"
                                + " these events, too",
                        "bpf4j: otlp: http://c/v1/metrics takes pushes again, with all events since the start");
    }

    @Test
    void anotherReasonIsSaid() {
        talk.say(Outcome.failed("refused", "refused"), ENDPOINT, 1);
        talk.say(Outcome.failed("late", "late"), ENDPOINT, 2);
        talk.say(Outcome.failed("refused", "refused"), ENDPOINT, 3);
        assertThat(lines()).hasSize(2);
    }

    /** A collector chooses what it answers. */
    @Test
    void anHourHasFewMessages() {
        for (int i = 1; i < 1_000; i++) {
            talk.say(Outcome.failed("kind " + i, "why " + i), ENDPOINT, i);
            talk.say(TAKEN, ENDPOINT, 0);
        }
        assertThat(lines()).hasSize(Talk.MOST);
        assertThat(lines().getLast()).endsWith("(the next messages about pushes are left out for an hour)");
        now += Duration.ofHours(1).toNanos();
        talk.say(Outcome.failed("late", "late"), ENDPOINT, 1);
        assertThat(lines()).hasSize(Talk.MOST + 1);
    }

    @Test
    void theEndOfTheAgentIsNoFailure() {
        talk.say(Outcome.failed("cut", "it was cut short"), ENDPOINT, 1);
        assertThat(lines()).isEmpty();
    }
}
