package io.bpf4j.cli.question;

import io.bpf4j.cli.output.CellWidth;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * An answer over time at a terminal: a line for the events of each interval, or with keys a line for each key. A count
 * is drawn as a bar. A distribution is drawn as cells: a cell is a range of values, and its shade shows the number of
 * events. Shades are logarithmic, so that a few slow events are visible beside many fast ones. <i>Confined.</i>
 *
 * <p>Tested by {@code IntervalLinesTest} and {@code CliTerminalTest}.
 */
public final class IntervalLines {
    /** Lines after which the axis is printed again, so that every screen shows one. */
    private static final int LINES_PER_AXIS = 20;

    private static final int MAX_KEYS = 20;
    private static final int MAX_CELL_WIDTH = 3;
    private static final int COUNT_WIDTH = 9;
    private static final int MAX_CELLS_WIDTH = 200;

    private final Console console;
    private final Paint paint;
    private final DateTimeFormatter clock;
    private final Changes changes = new Changes();
    private @Nullable Layout layout;
    private int linesSinceAxis;
    private long most = 1;

    /**
     * The widths of a line's parts, in columns: its keys, and each cell of the axis, or the bar if the axis is empty.
     */
    private record Layout(int keys, int cell, Buckets axis) {}

    /** @param everyNanos the interval in nanoseconds; below a second, times of day have milliseconds */
    public IntervalLines(Console console, Paint paint, long everyNanos) {
        this.console = console;
        this.paint = paint;
        this.clock = DateTimeFormatter.ofPattern(everyNanos < 1_000_000_000 ? "HH:mm:ss.SSS" : "HH:mm:ss", Locale.ROOT);
    }

    /** Prints the events since the last call. */
    public void print(Answer answer) {
        print(
                LocalTime.now(ZoneId.systemDefault()),
                answer.rows(),
                answer.unit().orElse(""),
                console.columns().orElse(80));
    }

    void print(LocalTime time, List<Answer.Row> rows, String unit, int columns) {
        List<Changes.Change> all =
                changes.next(rows).stream().filter(change -> change.count() > 0).toList();
        List<Changes.Change> shown = all.stream().limit(MAX_KEYS).toList();
        String now = clock.format(time);
        List<Distribution> distributions =
                rows.stream().flatMap(row -> row.distribution().stream()).toList();
        Layout present = layout(distributions, shown, columns - now.length() - 2);
        if (!present.equals(layout) || linesSinceAxis >= LINES_PER_AXIS) {
            layout = present;
            linesSinceAxis = 0;
            if (!distributions.isEmpty()) {
                console.line(paint.faint(" ".repeat(now.length() + 2 + present.keys()) + axis(present, unit)));
            }
        }
        if (shown.isEmpty()) {
            line(now, "", new long[present.axis().all().size()], 0, present);
        }
        for (Changes.Change change : shown) {
            line(now, AnswerValues.text(change.key()), present.axis().counts(change), change.count(), present);
        }
        if (all.size() > shown.size()) {
            console.line(paint.faint(now + "  and " + (all.size() - shown.size()) + " more keys"));
        }
    }

    private Layout layout(List<Distribution> distributions, List<Changes.Change> shown, int room) {
        int keys = shown.stream()
                .mapToInt(change -> CellWidth.of(AnswerValues.text(change.key())))
                .max()
                .orElse(0);
        Layout before = layout;
        int widest = Math.min(keys, room / 3);
        int forKeys =
                Math.max(widest == 0 ? 0 : widest + 2, before == null ? 0 : Math.min(before.keys(), room / 3 + 2));
        int forCells = Math.clamp(room - forKeys - COUNT_WIDTH, 1, MAX_CELLS_WIDTH);
        Buckets axis = Buckets.of(distributions).atMost(forCells);
        int cell = Math.clamp(forCells / Math.max(1, axis.all().size()), 1, MAX_CELL_WIDTH);
        return new Layout(forKeys, axis.all().isEmpty() ? forCells : cell, axis);
    }

    /** The lower bounds of ranges, as many as there is room for. */
    private static String axis(Layout layout, String unit) {
        StringBuilder line = new StringBuilder();
        List<Distribution.Bucket> all = layout.axis().all();
        for (int i = 0; i < all.size(); i++) {
            int at = i * layout.cell();
            if (line.isEmpty() || line.length() + 2 <= at) {
                String label = AnswerValues.bound(all.get(i), layout.axis().unsigned(), unit);
                if (at + label.length() > all.size() * layout.cell() && i > 0) {
                    break;
                }
                line.repeat(' ', at - line.length()).append(label);
            }
        }
        return line.toString();
    }

    private void line(String time, String key, long[] counts, long count, Layout layout) {
        most = Math.max(most, Arrays.stream(counts).max().orElse(count));
        StringBuilder line = new StringBuilder(paint.faint(time)).append("  ");
        if (layout.keys() > 0) {
            String cut = CellWidth.cut(key, layout.keys() - 2);
            line.append(cut).repeat(' ', layout.keys() - CellWidth.of(cut));
        }
        for (long each : counts) {
            line.append(paint.shade(level(each, most), layout.cell()));
        }
        if (counts.length == 0) {
            String number = Long.toString(count);
            line.append(number).repeat(' ', Math.max(1, COUNT_WIDTH - number.length()));
            line.append(paint.bar(AnswerReport.bar(count, most, layout.cell())));
            console.line(line.toString());
        } else {
            console.line(line.append("  ").append(count).toString());
        }
        linesSinceAxis++;
    }

    /**
     * The shade of a count: 0 for no events, the highest shade for the most events, and a logarithmic scale between.
     */
    static int level(long count, long most) {
        if (count == 0) {
            return 0;
        }
        double share = most <= 1 ? 1 : Math.log((double) count) / Math.log((double) most);
        return 1 + (int) Math.round((Paint.SHADES - 1) * Math.min(1, share));
    }
}
