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

class PushMessagesTest {
    private static final URI ENDPOINT = URI.create("http://c/v1/metrics");
    private static final Outcome TAKEN = new Outcome(true, "taken", "", "", 0, false, Duration.ZERO);

    private final StringWriter err = new StringWriter();
    private long now;
    private final PushMessages messages =
            new PushMessages(new Console(OutputStream.nullOutputStream(), err, Reader.nullReader()), () -> now);

    private List<String> lines() {
        return err.toString().lines().toList();
    }

    @Test
    void aFailureIsSaidOnceAndItsEndToo() {
        messages.report(TAKEN, ENDPOINT, 0);
        assertThat(lines()).isEmpty();
        for (int i = 1; i < 100; i++) {
            messages.report(
                    new Outcome(
                            false,
                            "status 500",
                            "the collector responded with status 500",
                            "" + i,
                            0,
                            false,
                            Duration.ZERO),
                    ENDPOINT,
                    i);
        }
        messages.report(TAKEN, ENDPOINT, 0);
        messages.report(TAKEN, ENDPOINT, 0);
        assertThat(lines())
                .containsExactly(
                        "bpf4j: otlp: http://c/v1/metrics: the collector responded with status 500; message: '1'; later pushes will"
                                + " include these events",
                        "bpf4j: otlp: http://c/v1/metrics accepts pushes again, with all events since the start");
    }

    @Test
    void anotherReasonIsSaid() {
        messages.report(Outcome.failed("refused", "refused"), ENDPOINT, 1);
        messages.report(Outcome.failed("late", "late"), ENDPOINT, 2);
        messages.report(Outcome.failed("refused", "refused"), ENDPOINT, 3);
        assertThat(lines()).hasSize(2);
    }

    /** A collector chooses what it answers. */
    @Test
    void anHourHasFewMessages() {
        for (int i = 1; i < 1_000; i++) {
            messages.report(Outcome.failed("kind " + i, "why " + i), ENDPOINT, i);
            messages.report(TAKEN, ENDPOINT, 0);
        }
        assertThat(lines()).hasSize(PushMessages.MOST);
        assertThat(lines().getLast()).endsWith("(more messages about pushes in this hour are not printed)");
        now += Duration.ofHours(1).toNanos();
        messages.report(Outcome.failed("late", "late"), ENDPOINT, 1);
        assertThat(lines()).hasSize(PushMessages.MOST + 1);
    }

    @Test
    void theEndOfTheAgentIsNoFailure() {
        messages.report(Outcome.failed("cut", "it was cut short"), ENDPOINT, 1);
        assertThat(lines()).isEmpty();
    }
}
