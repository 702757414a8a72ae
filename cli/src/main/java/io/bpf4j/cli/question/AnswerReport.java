package io.bpf4j.cli.question;

import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.CellWidth;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.EndRecord;
import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Records;
import io.bpf4j.cli.output.Remark;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.trace.EventFormat;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints answers, as tables and histograms for people or as lines of JSON. <i>Confined.</i>
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
public final class AnswerReport {
    /**
     * The maximum number of consecutive empty rows that are shown, so that a gap is visible; a longer gap becomes one
     * line.
     */
    private static final int MAX_EMPTY_ROWS = 8;

    private static final String BLOCKS = " ▏▎▍▌▋▊▉█";
    private static final int MAX_BAR_WIDTH = 50;
    private static final int MAX_BAR_AT_TERMINAL = 100;
    private static final int MIN_BAR_WIDTH = 8;

    private final Console console;
    private final boolean json;
    private final Paint paint;

    /** Created for the first event: time zones take a while to load, and most questions show no event. */
    private @Nullable EventFormat format;

    /** How many events are shown. */
    private long shown;

    /** How many intervals have ended. */
    private long intervals;

    /** A report without colours. */
    public AnswerReport(Console console, boolean json) {
        this(console, json, Paint.NONE);
    }

    public AnswerReport(Console console, boolean json, Paint paint) {
        this.console = console;
        this.json = json;
        this.paint = paint;
    }

    /** The rows, those with the most events first. */
    private static List<Answer.Row> sorted(List<Answer.Row> rows) {
        return rows.stream()
                .sorted(Comparator.comparingLong(Answer.Row::count)
                        .reversed()
                        .thenComparing(Answer.Row::key, AnswerValues.KEYS))
                .toList();
    }

    /** Prints the answer so far, or at the end. */
    public void rows(Answer answer) {
        rows(answer, answer.rows());
    }

    private void rows(Answer answer, List<Answer.Row> rows) {
        rows(rows, answer.unit().orElse(""), answer.emptyDistribution().map(HistogramScale::of));
    }

    /**
     * Prints the rows of an answer.
     *
     * @param unit of the distributions; empty if it is not known
     * @param scale of the distributions, if the rows have some
     */
    public void rows(List<Answer.Row> unsorted, String unit, Optional<HistogramScale> scale) {
        List<Answer.Row> rows = sorted(unsorted);
        if (json) {
            rows.forEach(row -> console.line(line(row, unit, scale)));
        } else if (rows.stream().anyMatch(row -> row.distribution().isPresent())) {
            rows.forEach(row -> histogram(row, unit));
        } else if (rows.stream().anyMatch(row -> !row.key().isEmpty())) {
            table(rows);
        }
    }

    /** Prints the answer so far; for a count without keys, its sum. */
    public void interim(Answer answer) {
        List<Answer.Row> rows = answer.rows();
        long events = rows.stream().mapToLong(Answer.Row::count).sum();
        if (json) {
            rows(answer, rows);
            interval(events);
        } else if (rows.stream()
                .allMatch(row -> row.distribution().isEmpty() && row.key().isEmpty())) {
            console.line(AnswerValues.events(events));
        } else {
            rows(answer, rows);
        }
    }

    /**
     * Ends the rows of an interval in JSON, so that a reader knows which rows belong together.
     *
     * @param events of these rows
     */
    public void interval(long events) {
        intervals++;
        console.line(Records.begin("interval")
                .field("time", Instant.now().toString())
                .field("ns", System.nanoTime())
                .field("events", events)
                .endObject()
                .toString());
    }

    private void table(List<Answer.Row> rows) {
        Table table = new Table("").keeping(1);
        fill(table, "COUNT", rows, Long::toString);
        table.print(console, paint);
    }

    /** Fills a table with counts and keys. Each key has a column, with the expression as its header. */
    public static void fill(Table table, String count, List<Answer.Row> rows, LongFunction<String> text) {
        if (rows.isEmpty()) {
            return;
        }
        List<String> names = List.copyOf(rows.getFirst().key().keySet());
        table.header(with(count, names));
        for (Answer.Row row : rows) {
            table.row(with(
                    text.apply(row.count()),
                    row.key().values().stream().map(AnswerValues::cell).toList()));
        }
    }

    private static String[] with(String first, List<String> others) {
        List<String> all = new ArrayList<>(List.of(first));
        all.addAll(others);
        return all.toArray(String[]::new);
    }

    private static String line(Answer.Row row, String unit, Optional<HistogramScale> scale) {
        JsonLine line = Records.begin("row").key("key");
        AnswerValues.json(line, row.key());
        if (row.distribution().isEmpty()) {
            return line.field("count", row.count()).endObject().toString();
        }
        if (!unit.isEmpty()) {
            line.field("unit", unit);
        }
        Distribution distribution = row.distribution().get();
        scale.ifPresent(known -> known.json(line));
        line.key("buckets").beginArray();
        for (Distribution.Bucket bucket : distribution.buckets()) {
            line.beginObject();
            number(line, "from", bucket.from(), distribution);
            number(line, "to", bucket.to(), distribution);
            line.field("count", bucket.count()).endObject();
        }
        line.endArray().field("count", distribution.count());
        number(line, "sum", distribution.sum(), distribution);
        number(line, "min", distribution.min(), distribution);
        number(line, "max", distribution.max(), distribution);
        return line.endObject().toString();
    }

    private static void number(JsonLine line, String name, long value, Distribution distribution) {
        if (distribution.unsigned()) {
            line.unsignedField(name, value);
        } else {
            line.field(name, value);
        }
    }

    private void histogram(Answer.Row row, String unit) {
        Distribution distribution = row.distribution().orElseThrow();
        boolean unsigned = distribution.unsigned();
        String key = AnswerValues.text(row.key());
        if (!key.isEmpty()) {
            OptionalInt columns = console.columns();
            console.line(paint.strong(columns.isPresent() ? CellWidth.cut(key, columns.getAsInt()) : key));
        }
        List<Distribution.Bucket> rows = distribution.rows();
        long most = rows.stream().mapToLong(Distribution.Bucket::count).max().orElse(1);
        List<String> ranges = rows.stream()
                .map(bucket -> AnswerValues.range(bucket, unsigned, unit))
                .toList();
        int rangeWidth = ranges.stream().mapToInt(String::length).max().orElse(0);
        int digits = Long.toString(most).length();
        int room = console.columns().isPresent()
                ? Math.clamp(console.columns().getAsInt() - rangeWidth - digits - 6, MIN_BAR_WIDTH, MAX_BAR_AT_TERMINAL)
                : MAX_BAR_WIDTH;
        for (int i = 0; i < ranges.size(); i++) {
            int empty = emptyFrom(rows, i);
            if (empty > MAX_EMPTY_ROWS) {
                console.line("  … " + empty + " empty rows");
                i += empty - 1;
                continue;
            }
            long count = rows.get(i).count();
            StringBuilder line = new StringBuilder("  ").append(ranges.get(i));
            line.repeat(' ', rangeWidth - ranges.get(i).length() + 2).append(count);
            if (count > 0) {
                line.repeat(' ', digits - Long.toString(count).length() + 2).append(paint.bar(bar(count, most, room)));
            }
            console.line(line.toString());
        }
        console.line("  " + AnswerValues.summary(distribution, unit));
        console.line("");
    }

    /** The number of consecutive empty buckets from an index on. */
    private static int emptyFrom(List<Distribution.Bucket> buckets, int first) {
        int end = first;
        while (end < buckets.size() && buckets.get(end).count() == 0) {
            end++;
        }
        return end - first;
    }

    /** A bar in eighths of a character. */
    static String bar(long count, long most, int width) {
        long eighths = count == 0 ? 0 : Math.max(1, Math.round(8.0 * width * count / most));
        return "█".repeat((int) (eighths / 8))
                + (eighths % 8 == 0 ? "" : BLOCKS.substring((int) (eighths % 8), (int) (eighths % 8) + 1));
    }

    /** Prints an event that is shown: for a latency with its duration, otherwise as {@code trace} prints it. */
    public void event(Answer.Event event) {
        shown++;
        if (format == null) {
            format = EventFormat.create(json, new LineBuffer());
        }
        if (json) {
            JsonLine line = Records.begin("event")
                    .field("time", format.time(event.timeNs()).toString())
                    .field("ns", event.timeNs())
                    .field("probe", event.probe())
                    .field("pid", event.pid())
                    .field("tid", event.tid())
                    .field("comm", event.comm());
            if (event.latencyNs() > 0) {
                line.field("latency_ns", event.latencyNs());
            }
            line.key("values");
            if (event.unreadable()) {
                line.value((String) null);
            } else {
                AnswerValues.json(line, event.values());
            }
            console.line(line.endObject().toString());
            return;
        }
        String values = event.unreadable() ? "? (a value could not be read)" : AnswerValues.text(event.values());
        if (event.latencyNs() > 0) {
            console.line(String.join(
                    " ",
                    List.of(
                            AnswerValues.withUnit(event.latencyNs(), true, "ns"),
                            event.pid() + "/" + event.tid(),
                            Text.printable(event.comm()),
                            values)));
            return;
        }
        String columns = format.columns(event.timeNs(), event.pid(), event.tid(), event.comm(), event.probe());
        console.line((columns + values).stripTrailing());
    }

    /** How many events are shown so far. */
    public long shown() {
        return shown;
    }

    /**
     * Prints the sums and the gaps of the answer.
     *
     * @param gaps the reasons why the answer is not exact
     * @param question the question; empty if it has no counts that could be added up
     * @param toStandardError whether the sums go to standard error, because a program reads the rows from standard
     *     output
     */
    public void printSums(
            Answer answer, List<Diagnostic> gaps, Optional<AskedQuestion> question, boolean toStandardError) {
        Map<Gap, Long> counted = answer.gaps();
        long lost = counted.getOrDefault(Gap.LOST, 0L);
        List<Answer.Row> rows = answer.rows();
        long events = rows.stream().mapToLong(Answer.Row::count).sum();
        boolean eventsOnly = answer.showsEvents() && events == 0;
        long total = eventsOnly ? shown : events;
        if (json) {
            EndRecord end = new EndRecord(total, lost).after(intervals, eventsOnly ? 0 : shown);
            question.ifPresent(end::about);
            console.line(complete(end, counted, gaps).json(console.remarks()));
            return;
        }
        printSums(rows, sums(counted, total, gaps, eventsOnly && lost == 0 ? ", 0 lost" : ""), toStandardError);
    }

    /** The same for an answer that has only rows and gaps. */
    public void printSums(
            List<Answer.Row> rows,
            Map<Gap, Long> counted,
            List<Diagnostic> gaps,
            List<Remark> remarks,
            Optional<AskedQuestion> question,
            boolean toStandardError) {
        long events = rows.stream().mapToLong(Answer.Row::count).sum();
        if (json) {
            EndRecord end = new EndRecord(events, counted.getOrDefault(Gap.LOST, 0L));
            question.ifPresent(end::about);
            console.line(complete(end, counted, gaps).json(remarks));
        } else {
            printSums(rows, sums(counted, events, gaps), toStandardError);
        }
    }

    private static EndRecord complete(EndRecord end, Map<Gap, Long> counted, List<Diagnostic> gaps) {
        end.because(gaps);
        withoutLost(counted).forEach((gap, count) -> {
            if (gap.isMissing()) {
                end.lacking(name(gap), count, text(gap));
            } else {
                end.without(name(gap), count);
            }
        });
        return end;
    }

    /** The name of the field that has the number of these events. */
    public static String name(Gap gap) {
        return gap.name().toLowerCase(Locale.ROOT);
    }

    private void printSums(List<Answer.Row> rows, String text, boolean toStandardError) {
        if (isInSummary(rows, text)) {
            return;
        }
        if (toStandardError) {
            console.error("bpf4j: " + text);
        } else {
            console.line(text);
        }
    }

    /** Whether the sums are only the number of events, which the summary of the only distribution has already. */
    public static boolean isInSummary(List<Answer.Row> rows, String sums) {
        return rows.size() == 1
                && rows.getFirst().distribution().isPresent()
                && sums.equals(AnswerValues.events(rows.getFirst().count()));
    }

    /** The sums in words. */
    public static String sums(Map<Gap, Long> counted, long total, List<Diagnostic> gaps) {
        return sums(counted, total, gaps, "");
    }

    private static String sums(Map<Gap, Long> counted, long total, List<Diagnostic> gaps, String complete) {
        long lost = counted.getOrDefault(Gap.LOST, 0L);
        StringBuilder text = new StringBuilder(AnswerValues.events(total)).append(complete);
        if (lost > 0) {
            text.append(", ").append(lost).append(" not shown, because they came too fast");
        }
        withoutLost(counted)
                .forEach((gap, count) ->
                        text.append(", ").append(count).append(' ').append(text(gap)));
        if (!gaps.isEmpty()) {
            text.append("; not exact: ").append(because(gaps));
        }
        return text.toString();
    }

    /** Why an answer is not exact, in words; with escapes for characters of names that would control a terminal. */
    public static String because(List<Diagnostic> gaps) {
        return gaps.stream()
                .map(Diagnostic::message)
                .distinct()
                .map(Text::printable)
                .collect(Collectors.joining("; "));
    }

    /** The kinds of gaps that have a count of their own in the sums. */
    private static Map<Gap, Long> withoutLost(Map<Gap, Long> gaps) {
        Map<Gap, Long> others = new TreeMap<>(gaps);
        others.remove(Gap.LOST);
        return others;
    }

    private static String text(Gap gap) {
        return gap == Gap.NO_ROOM_FOR_KEY ? gap.text() + " (--max-keys)" : gap.text();
    }
}
