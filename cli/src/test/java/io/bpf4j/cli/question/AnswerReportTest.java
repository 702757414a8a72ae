package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Console;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import java.io.ByteArrayOutputStream;
import java.io.Reader;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AnswerReportTest {
    /** A process chooses its name, and a file the names of its probes and functions. */
    @Test
    void anEventIsOneLineWithoutControlCharacters() {
        Answer.Event event = new Answer.Event(
                1, "u:\u001b[2J", 47, 48, "\nbpf4j: \u202e", 0, Map.of("str(arg0)", "a\u001b\n\u0085"), false);
        assertThat(printed(event, false))
                .matches("\\d\\d:\\d\\d:\\d\\d\\.\\d{6} .*\\n")
                .endsWith("  47/48            \\n"
                        + "bpf4j: \\u{202e}  u:\\x1b[2J                 str(arg0)=a\\x1b\\n"
                        + "\\x85\n");
        assertThat(printed(event, true))
                .doesNotContain("\u001b", "\u202e", "\u0085")
                .hasLineCount(1);
    }

    /** Such as the name of a control group, which may contain anything but a slash and a line end. */
    @Test
    void theReasonsWhyAnAnswerIsNotExactHaveNoControlCharacters() {
        assertThat(AnswerReport.because(List.of(
                        new Diagnostic(Diagnostic.Kind.LATE, "/a\u001b[2J", "the control group /a\u001b[2J was found"),
                        new Diagnostic(Diagnostic.Kind.LATE, "", "b\nc"))))
                .isEqualTo("the control group /a\\x1b[2J was found; b\\nc");
    }

    @Test
    void anEventWhoseValuesCouldNotBeReadSaysSo() {
        Answer.Event event = new Answer.Event(1, "u:work", 47, 48, "work", 0, Map.of(), true);
        assertThat(printed(event, false))
                .endsWith("  47/48            work             u:work                    ? (a value could not be"
                        + " read)\n");
        assertThat(printed(event, true)).contains("\"values\":null");
    }

    @Test
    void aNumberThatRoundsToTheNextUnitHasIt() {
        assertThat(Stream.of(999L, 999_499L, 999_500L, 999_999_999L, 999_999_999_999L, -999_999L)
                        .map(time -> AnswerValues.withUnit(time, false, "ns")))
                .containsExactly("999 ns", "999 us", "1 ms", "1 s", "1000 s", "-1 ms");
        assertThat(Stream.of(1023L, (1L << 20) - 1, (1L << 30) - (1 << 20))
                        .map(size -> AnswerValues.withUnit(size, true, "bytes")))
                .containsExactly("1023 B", "1 MiB", "1023 MiB");
    }

    @Test
    void anEventOfALatencyBeginsWithItsTime() {
        Answer.Event event = new Answer.Event(1, "shop:paid", 47, 48, "shop", 1_500_000, Map.of("arg0", 3L), false);
        assertThat(printed(event, false)).isEqualTo("1.5 ms 47/48 shop arg0=3\n");
    }

    @Test
    void theMeanOfSmallNumbersHasThreeDigits() {
        assertThat(summary(4, 3, 0, 1, "")).isEqualTo("4 events, min 0, mean 0.75, p99 <= 1, max 1");
        assertThat(summary(3, -200, -150, 10, "")).contains("mean -66.7,");
        assertThat(summary(2, 201, 0, 201, "blocks")).contains("mean 100 blocks,");
        assertThat(summary(1, 5_000_000_123L, 5_000_000_123L, 5_000_000_123L, ""))
                .contains("mean 5000000123,");
        assertThat(summary(2, 3, 1, 2, "ns")).contains("mean 1.5 ns,");
        assertThat(summary(2, 40, 20, 20, "")).contains("mean 20,");
    }

    @Test
    void anUpperBoundIsRoundedUp() {
        List<Distribution.Bucket> buckets = List.of(
                new Distribution.Bucket(1L << 20, (5L << 18) - 1, 999),
                new Distribution.Bucket(5L << 20, (6L << 20) - 1, 1));
        assertThat(AnswerValues.summary(
                        new Distribution(true, false, 1000, 1_300_000_000, 1 << 20, 5_300_000, buckets), "ns"))
                .as("1,310,719 ns")
                .contains("min 1.05 ms, ", "p99 <= 1.32 ms, max 5.3 ms");
        assertThat(AnswerValues.summary(
                        new Distribution(true, false, 1000, 1_300_000_000, 1 << 20, 5_300_000, buckets), ""))
                .contains("p99 <= 1310719, ");
    }

    /** Results of 0 and -1, of which the latter is 18446744073709551615 without a sign, are rows far apart. */
    @Test
    void longRunsOfEmptyRowsAreFolded() {
        assertThat(histogram(20)).contains("\n  \u2026 19 empty rows\n").hasLineCount(5);
        assertThat(histogram(9)).doesNotContain("empty rows").hasLineCount(12);
    }

    /** Values of 1 and of a power of two, with the empty buckets between them. */
    private static String histogram(int power) {
        long large = 1L << power;
        List<Distribution.Bucket> buckets = new ArrayList<>(List.of(new Distribution.Bucket(1, 1, 3)));
        for (long from = 2; from < large; from *= 2) {
            buckets.add(new Distribution.Bucket(from, 2 * from - 1, 0));
        }
        buckets.add(new Distribution.Bucket(large, 2 * large - 1, 1));
        Distribution distribution = new Distribution(true, false, 4, 3 + large, 1, large, buckets);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
        new AnswerReport(console, false)
                .rows(
                        List.of(new Answer.Row(
                                Map.of(), 4, Optional.of(distribution), Optional.empty(), Optional.empty())),
                        "",
                        Optional.empty());
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    private static String summary(long count, long sum, long min, long max, String unit) {
        List<Distribution.Bucket> buckets = List.of(new Distribution.Bucket(min, max, count));
        return AnswerValues.summary(new Distribution(false, false, count, sum, min, max, buckets), unit);
    }

    @Test
    void numbersInKeysAreInTheOrderOfNumbers() {
        BigInteger large = BigInteger.ONE.shiftLeft(63);
        assertThat(Stream.<Object>of(10_000L, large, 1_000L, -1L, 0L, 2L)
                        .map(value -> Map.of("arg0", value))
                        .sorted(AnswerValues.KEYS))
                .extracting(key -> key.get("arg0"))
                .containsExactly(-1L, 0L, 2L, 1_000L, 10_000L, large);
        assertThat(Stream.<Object>of(10.0, -1.5, 2.0)
                        .map(value -> Map.of("arg0", value))
                        .sorted(AnswerValues.KEYS))
                .extracting(key -> key.get("arg0"))
                .containsExactly(-1.5, 2.0, 10.0);
        assertThat(Stream.<Object>of("b", "a10", "a2")
                        .map(value -> Map.of("comm", value))
                        .sorted(AnswerValues.KEYS))
                .extracting(key -> key.get("comm"))
                .containsExactly("a10", "a2", "b");
    }

    private static String printed(Answer.Event event, boolean json) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
        new AnswerReport(console, json).event(event);
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }
}
