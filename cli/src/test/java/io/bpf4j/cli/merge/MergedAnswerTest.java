package io.bpf4j.cli.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.question.HistogramScale;
import io.bpf4j.cli.question.HistogramScale.Linear;
import io.bpf4j.cli.question.StackRow;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import io.bpf4j.trace.Gap;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Reader;
import java.io.StringReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;
import org.jspecify.annotations.Nullable;

/**
 * The events of some machines, counted by each machine and added up, are printed as the same events, counted by one
 * machine.
 */
class MergedAnswerTest {
    private static final int MACHINES = 3;
    private static final int FLEET = 100;

    /** Names of threads and values of arguments: any process chooses them. */
    private static final List<Object> VALUES = List.of(
            "java",
            "a\u001b[2J\n\"\\",
            "\udcff\udc80",
            "\u202e",
            "",
            -7L,
            Long.MAX_VALUE,
            BigInteger.ONE.shiftLeft(63),
            1.5,
            -0.0,
            true);

    /**
     * An event.
     *
     * @param machine which one of the fleet counts it
     * @param missing how the answer lacks it, if it does
     */
    record Event(int machine, Map<String, Object> key, long value, List<String> frames, Optional<Gap> missing) {}

    @Provide
    Arbitrary<Event> events() {
        Arbitrary<Map<String, Object>> keys = Combinators.combine(Arbitraries.of(VALUES), Arbitraries.of(VALUES))
                .as((comm, arg) -> {
                    Map<String, Object> key = new LinkedHashMap<>();
                    key.put("str(arg1)", comm);
                    key.put("arg0", arg);
                    return key;
                });
        Arbitrary<Long> values = Combinators.combine(
                        Arbitraries.longs(), Arbitraries.integers().between(0, 63))
                .as((value, shift) -> value >> shift);
        Arbitrary<List<String>> frames =
                Arbitraries.of("main", "top", "[unknown]", "a;\u001bb").list().ofMaxSize(3);
        Arbitrary<Optional<Gap>> missing = Arbitraries.of(Gap.UNREADABLE, Gap.STILL_OPEN, Gap.LOST, Gap.EXTREMES_LOST)
                .optional(0.1);
        return Combinators.combine(Arbitraries.integers().between(0, FLEET - 1), keys, values, frames, missing)
                .as(Event::new);
    }

    @Provide
    Arbitrary<HistogramScale> scales() {
        return Arbitraries.of(
                new HistogramScale(true, Optional.empty()),
                new HistogramScale(false, Optional.empty()),
                new HistogramScale(true, Optional.of(new Linear(0, 100, 10))),
                new HistogramScale(true, Optional.of(new Linear(7, 1 << 20, 4099))),
                new HistogramScale(true, Optional.of(new Linear(10, 10230, 10))),
                new HistogramScale(false, Optional.of(new Linear(-50, 50, 100))));
    }

    @Property(tries = 200)
    void counts(@ForAll @Size(max = 50) List<@From("events") Event> events) {
        check(events, counted -> rows(counted, Optional.empty(), _ -> null));
    }

    @Property(tries = 200)
    void countsWithoutKeys(@ForAll @Size(max = 50) List<@From("events") Event> events) {
        List<Event> without = events.stream()
                .map(event -> new Event(event.machine, Map.of(), event.value, event.frames, event.missing))
                .toList();
        check(without, counted -> rows(counted, Optional.empty(), _ -> null));
    }

    @Property(tries = 200)
    void histograms(
            @ForAll @Size(max = 50) List<@From("events") Event> events, @ForAll @From("scales") HistogramScale scale) {
        check(events, histogram(scale));
    }

    private static Function<List<Event>, Printed> histogram(HistogramScale scale) {
        return counted -> rows(
                counted,
                Optional.of(scale),
                same -> distribution(scale, same.stream().map(Event::value).toList()));
    }

    @Property(tries = 200)
    void stacks(@ForAll @Size(max = 50) List<@From("events") Event> events) {
        check(events, MergedAnswerTest::stackRows);
    }

    @Property(tries = 20)
    void histogramsOfAHundredMachines(
            @ForAll @Size(min = 100, max = 400) List<@From("events") Event> events,
            @ForAll @From("scales") HistogramScale scale) {
        checkFleet(events, histogram(scale));
    }

    @Property(tries = 20)
    void stacksOfAHundredMachines(@ForAll @Size(min = 100, max = 400) List<@From("events") Event> events) {
        checkFleet(events, MergedAnswerTest::stackRows);
    }

    /** Adds up the answers of a hundred machines: all at once, the last first, and by ten sums of ten. */
    private static void checkFleet(List<Event> events, Function<List<Event>, Printed> question) {
        String whole = question.apply(events).json;
        List<String> parts = parts(events, FLEET, question);
        assertThat(parts).hasSize(FLEET);
        assertThat(merged(true, parts.toArray(String[]::new))).isEqualTo(whole);
        assertThat(merged(true, parts.reversed().toArray(String[]::new))).isEqualTo(whole);
        List<String> sums = IntStream.range(0, 10)
                .mapToObj(ten ->
                        merged(true, parts.subList(10 * ten, 10 * ten + 10).toArray(String[]::new)))
                .toList();
        assertThat(merged(true, sums.toArray(String[]::new))).isEqualTo(whole);
    }

    /** The answers of so many machines. */
    private static List<String> parts(List<Event> events, int machines, Function<List<Event>, Printed> question) {
        return IntStream.range(0, machines)
                .mapToObj(machine -> question.apply(events.stream()
                                .filter(event -> event.machine % machines == machine)
                                .toList())
                        .json)
                .toList();
    }

    /** A remark is as long as the machine wants it. */
    @Example
    void whatIsKeptIsBounded() throws IOException {
        String row = "{\"type\":\"row\",\"key\":{},\"count\":3}\n";
        String end = "{\"type\":\"end\",\"events\":3,\"lost\":0,\"exact\":true,\"remarks\":[{\"message\":\""
                + "a".repeat(500) + "\"}]}\n";
        MergedAnswer merged = new MergedAnswer(1000);
        merged.addAll("one", new StringReader(row + end));
        assertThatExceptionOfType(CommandException.class)
                .isThrownBy(() -> merged.addAll("two", new StringReader(row + end)))
                .withMessage("two:2: makes the answers exceed 1000 characters; merge some of them first, or ask with"
                        + " fewer keys");
    }

    /** Adds up the answers of the machines in several ways. */
    private static void check(List<Event> events, Function<List<Event>, Printed> question) {
        String whole = question.apply(events).json;
        List<String> parts = parts(events, MACHINES, question);
        assertThat(merged(true, whole))
                .as("the sum of one answer is the answer")
                .isEqualTo(whole);
        assertThat(merged(true, parts.toArray(String[]::new))).isEqualTo(whole);
        assertThat(merged(true, String.join("", parts))).as("in one file").isEqualTo(whole);
        assertThat(merged(true, parts.get(2), parts.get(0), parts.get(1)))
                .as("in another order")
                .isEqualTo(whole);
        assertThat(merged(true, parts.get(0), merged(true, parts.get(1), parts.get(2))))
                .as("a sum of sums")
                .isEqualTo(whole);
        assertThat(merged(true, merged(true, parts.get(0), parts.get(1)), parts.get(2)))
                .as("a sum of sums")
                .isEqualTo(whole);
        assertThat(merged(false, parts.toArray(String[]::new)))
                .as("for people")
                .isEqualTo(question.apply(events).text)
                .doesNotContain("\u001b", "\u202e");
    }

    /** An answer as a command prints it. */
    private record Printed(String json, String text) {}

    /** Prints rows as JSON or text. */
    private interface Rows {
        void print(Console console, AnswerReport report, boolean json);
    }

    private static Printed printed(List<Event> events, List<Answer.Row> rows, Rows printer) {
        Map<Gap, Long> missing = new EnumMap<>(Gap.class);
        events.forEach(event -> event.missing.ifPresent(gap -> missing.merge(gap, 1L, Long::sum)));
        return new Printed(print(true, missing, rows, printer), print(false, missing, rows, printer));
    }

    private static String print(boolean json, Map<Gap, Long> missing, List<Answer.Row> rows, Rows printer) {
        return output(console -> {
            AnswerReport report = new AnswerReport(console, json);
            printer.print(console, report, json);
            report.printSums(rows, missing, List.of(), List.of(), Optional.empty(), false);
        });
    }

    private static Printed rows(
            List<Event> events,
            Optional<HistogramScale> scale,
            Function<List<Event>, @Nullable Distribution> distribution) {
        Map<Map<String, Object>, List<Event>> byKey = new HashMap<>();
        events.forEach(event ->
                byKey.computeIfAbsent(event.key, _ -> new ArrayList<>()).add(event));
        List<Answer.Row> rows = new ArrayList<>();
        byKey.forEach((key, same) -> rows.add(new Answer.Row(
                key, same.size(), Optional.ofNullable(distribution.apply(same)), Optional.empty(), Optional.empty())));
        return printed(events, rows, (_, report, _) -> report.rows(rows, scale.isPresent() ? "ns" : "", scale));
    }

    private static Printed stackRows(List<Event> events) {
        Map<List<Object>, Long> counts = new HashMap<>();
        events.forEach(event -> counts.merge(List.of(event.key, event.frames), 1L, Long::sum));
        List<StackRow> stacks = new ArrayList<>();
        for (Event event : events) {
            Long count = counts.remove(List.of(event.key, event.frames));
            if (count != null) {
                stacks.add(new StackRow(event.key, event.frames, event.frames.size() == 3, count));
            }
        }
        stacks.sort(Comparator.comparingLong(StackRow::count)
                .reversed()
                .thenComparing(StackRow::key, AnswerValues.KEYS)
                .thenComparing(stack -> String.join("\n", stack.frames())));
        List<Answer.Row> rows = stacks.stream()
                .map(stack -> new Answer.Row(
                        stack.key(), stack.count(), Optional.empty(), Optional.empty(), Optional.empty()))
                .toList();
        return printed(
                events,
                rows,
                (console, _, json) -> stacks.forEach(stack -> {
                    if (json) {
                        console.line(stack.json());
                    } else {
                        stack.print(console, Paint.NONE);
                    }
                }));
    }

    /** The distribution of values, counted one by one. */
    private static Distribution distribution(HistogramScale scale, List<Long> values) {
        Comparator<Long> order = scale.unsigned() ? Long::compareUnsigned : Long::compare;
        List<Bucket> buckets = new ArrayList<>();
        for (Bucket bucket : scale.withoutEvents().buckets()) {
            long events = values.stream()
                    .filter(value -> order.compare(value, bucket.from()) >= 0 && order.compare(value, bucket.to()) <= 0)
                    .count();
            buckets.add(new Bucket(bucket.from(), bucket.to(), events));
        }
        while (buckets.getLast().count() == 0) {
            buckets.removeLast();
        }
        while (buckets.getFirst().count() == 0) {
            buckets.removeFirst();
        }
        return new Distribution(
                scale.unsigned(),
                scale.linear().isPresent(),
                values.size(),
                values.stream().mapToLong(Long::longValue).sum(),
                values.stream().min(order).orElseThrow(),
                values.stream().max(order).orElseThrow(),
                buckets);
    }

    /** The sum of answers, each in a file. */
    private static String merged(boolean json, String... answers) {
        MergedAnswer merged = new MergedAnswer();
        for (String answer : answers) {
            try {
                merged.addAll("file", new StringReader(answer));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return output(console -> merged.print(console, json, Paint.NONE));
    }

    private static String output(Consumer<Console> command) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Console console = new Console(out, Writer.nullWriter(), Reader.nullReader());
        command.accept(console);
        console.flush();
        return out.toString(StandardCharsets.UTF_8);
    }
}
