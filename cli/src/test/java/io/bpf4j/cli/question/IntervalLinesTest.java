package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.io.ByteArrayOutputStream;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class IntervalLinesTest {
    private static final LocalTime NOON = LocalTime.NOON;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
    private final IntervalLines lines = new IntervalLines(console, Paint.NONE, 1_000_000_000);

    private String print(int columns, Answer.Row... rows) {
        out.reset();
        lines.print(NOON, List.of(rows), "ns", columns);
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    private static Answer.Row row(Map<String, Object> key, Bucket... buckets) {
        long count = List.of(buckets).stream().mapToLong(Bucket::count).sum();
        return new Answer.Row(
                key,
                count,
                Optional.of(new Distribution(true, false, count, 0, 0, 0, List.of(buckets))),
                Optional.empty(),
                Optional.empty());
    }

    @Test
    void aCellIsDarkerTheMoreEventsItHas() {
        assertThat(print(80, row(Map.of(), new Bucket(1024, 2047, 1), new Bucket(2048, 4095, 100))))
                .isEqualTo("          1.02 us\n12:00:00  ░░░███  101\n");
        assertThat(print(80, row(Map.of(), new Bucket(1024, 2047, 1), new Bucket(2048, 4095, 110))))
                .as("what is new, without the axis again")
                .isEqualTo("12:00:00     ▓▓▓  10\n");
    }

    @Test
    void keysHaveLinesAndFit() {
        String printed = print(
                40, row(Map.of("k", "x".repeat(100)), new Bucket(1, 1, 5)), row(Map.of("k", "b"), new Bucket(2, 3, 4)));
        assertThat(printed).contains("k=xxxxxxx…").contains("k=b  ");
        assertThat(printed.lines()).hasSize(3).allMatch(line -> line.length() <= 40);
    }

    @Test
    void aNarrowTerminalHasFewerRanges() {
        Bucket[] buckets = new Bucket[40];
        for (int i = 0; i < buckets.length; i++) {
            buckets[i] = new Bucket(1L << i, (2L << i) - 1, 1);
        }
        assertThat(print(40, row(Map.of(), buckets)).lines()).allMatch(line -> line.length() <= 40);
    }

    @Test
    void aCountIsABar() {
        assertThat(print(40, new Answer.Row(Map.of(), 12, Optional.empty(), Optional.empty(), Optional.empty())))
                .isEqualTo("12:00:00  12       " + "█".repeat(21) + "\n");
    }
}
