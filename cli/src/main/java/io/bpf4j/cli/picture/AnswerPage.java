package io.bpf4j.cli.picture;

import io.bpf4j.cli.output.CellWidth;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.question.Buckets;
import io.bpf4j.cli.question.Changes;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import java.io.IOException;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An answer as an HTML page or an SVG file, which needs neither a network nor another file. <i>Immutable.</i>
 *
 * <p>Tested by {@code AnswerPageTest} and {@code CliPicturesTest}.
 *
 * @param title the question in a few words
 * @param facts lines about the whole answer: the command line, the time, the number of events, and the missing events
 * @param remarks facts that a reader needs to judge the answer, as the terminal showed them
 * @param rows the rows of the answer
 * @param unit the unit of its distributions; empty if unknown
 * @param history the events of each interval; without intervals if the question did not ask for them
 */
public record AnswerPage(
        String title, List<String> facts, List<String> remarks, List<Answer.Row> rows, String unit, History history) {
    private static final DateTimeFormatter CLOCK = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    /** The content security policy: nothing may be fetched, and only a page with a flame graph may have a script. */
    private static final String POLICY = "default-src 'none'; style-src 'unsafe-inline'";

    private static final String SCRIPT_POLICY = POLICY + "; script-src 'unsafe-inline'";

    private static final int MAX_ROWS = 1000;
    private static final int MAX_DISTRIBUTIONS = 100;
    private static final int MAX_HEAT_MAPS = 10;
    private static final int MAX_HEAT_ROWS = 20;
    private static final int ROW = 20;
    private static final int LABELS = 330;
    private static final int MAX_BAR_WIDTH = 520;
    private static final int MAX_LABEL_LENGTH = 42;
    private static final int MAX_LINE_LENGTH = 130;

    /** A part of a page that the caller draws, such as a flame graph. */
    public interface Part {
        void to(Appendable out) throws IOException;
    }

    public AnswerPage {
        rows = rows.stream()
                .sorted(Comparator.comparingLong(Answer.Row::count)
                        .reversed()
                        .thenComparing(Answer.Row::key, AnswerValues.KEYS))
                .toList();
    }

    /** The same page with other rows, without history. */
    public AnswerPage withRows(List<Answer.Row> others) {
        return new AnswerPage(title, facts, remarks, others, unit, new History());
    }

    /** Facts and remarks as lines of a picture, which does not wrap text. */
    public List<String> lines(int columns) {
        return Stream.concat(facts.stream(), remarks.stream())
                .flatMap(text -> CellWidth.lines(text, columns).stream())
                .toList();
    }

    /** The rows that have a distribution. */
    private List<Answer.Row> distributions() {
        return rows.stream().filter(row -> row.distribution().isPresent()).toList();
    }

    /** Writes the page; {@code parts} come before the tables. */
    public void html(Appendable out, Part... parts) throws IOException {
        out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n")
                .append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n")
                .append("<meta http-equiv=\"Content-Security-Policy\" content=\""
                        + (parts.length == 0 ? POLICY : SCRIPT_POLICY) + "\">\n<title>")
                .append(Markup.text(title))
                .append("</title>\n<style>\n" + Style.PAGE + "</style>\n</head>\n<body>\n<main>\n<h1>")
                .append(Markup.text(title))
                .append("</h1>\n");
        for (String fact : facts) {
            boolean command = fact.startsWith("bpf4j ");
            out.append("<p class=\"facts\">")
                    .append(command ? "<code>" + Markup.text(fact) + "</code>" : Markup.text(fact))
                    .append("</p>\n");
        }
        for (String remark : remarks) {
            out.append("<p class=\"remark\">").append(Markup.text(remark)).append("</p>\n");
        }
        for (Part part : parts) {
            out.append("<figure>\n");
            part.to(out);
            out.append("</figure>\n");
        }
        body(out);
        out.append("</main>\n</body>\n</html>\n");
    }

    private void body(Appendable out) throws IOException {
        List<Answer.Row> distributions = distributions();
        if (rows.isEmpty()) {
            out.append("<p>No events.</p>\n");
        } else if (distributions.isEmpty()) {
            figure(out, keysOverTime());
            counts(out);
        } else {
            for (Answer.Row row :
                    distributions.stream().limit(MAX_DISTRIBUTIONS).toList()) {
                distribution(out, row, row.distribution().orElseThrow());
            }
            more(out, distributions.size() - MAX_DISTRIBUTIONS);
        }
    }

    private static void more(Appendable out, int more) throws IOException {
        if (more > 0) {
            out.append("<p class=\"facts\">and " + more + " more keys with fewer events</p>\n");
        }
    }

    /** Writes a table of counts, with a column for each key. */
    private void counts(Appendable out) throws IOException {
        List<String> names = List.copyOf(rows.getFirst().key().keySet());
        long most = rows.getFirst().count();
        long all = rows.stream().mapToLong(Answer.Row::count).sum();
        out.append("<table>\n<caption>"
                + (names.isEmpty() ? "Events" : "Events by " + Markup.text(String.join(", ", names)))
                + "</caption>\n<thead><tr>");
        for (String name : names) {
            out.append("<th scope=\"col\" class=\"key\">" + Markup.text(name) + "</th>");
        }
        out.append("<th scope=\"col\" class=\"number\">count</th><th scope=\"col\" class=\"number\">share</th>"
                + "<td class=\"bars\"></td></tr></thead>\n<tbody>\n");
        for (Answer.Row row : rows.stream().limit(MAX_ROWS).toList()) {
            out.append("<tr>");
            for (Object value : row.key().values()) {
                out.append("<td class=\"key\">" + Markup.text(AnswerValues.cell(value)) + "</td>");
            }
            bar(out, row.count(), all, most);
        }
        out.append("</tbody>\n</table>\n");
        more(out, rows.size() - MAX_ROWS);
    }

    /** The last cells of a row: count, share and bar. */
    private static void bar(Appendable out, long count, long all, long most) throws IOException {
        out.append(String.format(
                Locale.ROOT,
                "<td class=\"number\">%d</td><td class=\"number\">%.1f %%</td><td class=\"bars\">",
                count,
                100.0 * count / Math.max(1, all)));
        if (count > 0) {
            out.append(String.format(Locale.ROOT, "<span style=\"width:%.1f%%\"></span>", 100.0 * count / most));
        }
        out.append("</td></tr>\n");
    }

    private void distribution(Appendable out, Answer.Row row, Distribution distribution) throws IOException {
        String key = AnswerValues.text(row.key());
        if (!key.isEmpty()) {
            out.append("<h2>" + Markup.text(key) + "</h2>\n");
        }
        out.append("<p class=\"sums\">" + Markup.text(AnswerValues.summary(distribution, unit)) + "</p>\n");
        long most = most(distribution);
        out.append("<table>\n<caption>Events by value</caption>\n<thead><tr><th scope=\"col\">value</th>"
                + "<th scope=\"col\" class=\"number\">count</th><th scope=\"col\" class=\"number\">share</th>"
                + "<td class=\"bars\"></td></tr></thead>\n<tbody>\n");
        for (Distribution.Bucket bucket : distribution.rows()) {
            String range = AnswerValues.range(bucket, distribution.unsigned(), unit);
            out.append("<tr><th scope=\"row\" class=\"range\">" + Markup.text(range) + "</th>");
            bar(out, bucket.count(), distribution.count(), most);
        }
        out.append("</tbody>\n</table>\n");
        if (rows.indexOf(row) < MAX_HEAT_MAPS) {
            figure(out, valuesOverTime(row, distribution));
        }
    }

    private static long most(Distribution distribution) {
        return Math.max(
                1,
                distribution.rows().stream()
                        .mapToLong(Distribution.Bucket::count)
                        .max()
                        .orElse(1));
    }

    private static void figure(Appendable out, List<HeatMap> maps) throws IOException {
        for (HeatMap map : maps) {
            StringBuilder drawing = new StringBuilder();
            map.draw(drawing, 0);
            out.append("<figure>\n<figcaption>" + Markup.text(map.title())
                            + "</figcaption>\n<svg class=\"drawn\" role=\"img\" aria-label=\""
                            + Markup.text(map.title()) + "\" width=\"" + HeatMap.WIDTH + "\" height=\"" + map.height()
                            + "\" viewBox=\"0 0 " + HeatMap.WIDTH + " " + map.height() + "\">\n")
                    .append(drawing)
                    .append("</svg>\n</figure>\n");
        }
    }

    private List<String> times() {
        return history.intervals().stream()
                .map(interval -> CLOCK.format(interval.end()))
                .toList();
    }

    /** The heat map of the keys with the most events, one row for each; no heat map without intervals. */
    private List<HeatMap> keysOverTime() {
        List<History.Interval> intervals = history.intervals();
        if (intervals.size() < 2) {
            return List.of();
        }
        List<Answer.Row> shown = rows.stream().limit(MAX_HEAT_ROWS).toList();
        long[][] counts = new long[shown.size()][intervals.size()];
        Map<Map<String, Object>, Integer> places = new HashMap<>();
        shown.forEach(row -> places.putIfAbsent(row.key(), places.size()));
        for (int i = 0; i < intervals.size(); i++) {
            for (Changes.Change change : intervals.get(i).changes()) {
                Integer place = places.get(change.key());
                if (place != null) {
                    counts[place][i] = change.count();
                }
            }
        }
        List<String> labels = shown.stream()
                .map(row -> row.key().isEmpty()
                        ? "events"
                        : row.key().values().stream().map(AnswerValues::cell).collect(Collectors.joining(" ")))
                .toList();
        return List.of(new HeatMap("Events over time", labels, times(), counts));
    }

    /**
     * The heat map of a distribution, one row for each range, the largest values at the top; none without intervals.
     */
    private List<HeatMap> valuesOverTime(Answer.Row row, Distribution distribution) {
        List<History.Interval> intervals = history.intervals();
        if (intervals.size() < 2) {
            return List.of();
        }
        Buckets axis = Buckets.of(List.of(distribution)).atMost(MAX_HEAT_ROWS * 2);
        int size = axis.all().size();
        long[][] counts = new long[size][intervals.size()];
        for (int i = 0; i < intervals.size(); i++) {
            int column = i;
            intervals.get(i).changes().stream()
                    .filter(change -> change.key().equals(row.key()))
                    .forEach(change -> {
                        long[] now = axis.counts(change);
                        for (int j = 0; j < size; j++) {
                            counts[size - 1 - j][column] = now[j];
                        }
                    });
        }
        List<String> labels = axis.all().reversed().stream()
                .map(bucket -> AnswerValues.range(bucket, axis.unsigned(), unit))
                .toList();
        String key = AnswerValues.text(row.key());
        return List.of(new HeatMap("Values over time" + (key.isEmpty() ? "" : ", " + key), labels, times(), counts));
    }

    /** Writes the picture: the bars and heat maps of the page, one below the other. */
    public void svg(Appendable out) throws IOException {
        StringBuilder drawing = new StringBuilder();
        int y = 34;
        HeatMap.text(drawing, 20, y, "heading", title);
        for (String line : lines(MAX_LINE_LENGTH)) {
            y += ROW;
            HeatMap.text(drawing, 20, y, "label", line);
        }
        y += ROW;
        List<Answer.Row> distributions = distributions();
        if (distributions.isEmpty()) {
            List<Bar> bars = new ArrayList<>();
            rows.stream()
                    .limit(MAX_HEAT_ROWS * 2)
                    .forEach(row -> bars.add(
                            new Bar(row.key().isEmpty() ? "events" : AnswerValues.text(row.key()), row.count())));
            y = bars(drawing, y, bars);
            y = heat(drawing, y, rows.isEmpty() ? List.of() : keysOverTime());
        }
        for (Answer.Row row : distributions.stream().limit(MAX_HEAT_MAPS).toList()) {
            Distribution distribution = row.distribution().orElseThrow();
            String key = AnswerValues.text(row.key());
            y += key.isEmpty() ? 0 : ROW + 8;
            HeatMap.text(drawing, 20, y, "heading", key);
            y += ROW;
            HeatMap.text(drawing, 20, y, "label", AnswerValues.summary(distribution, unit));
            y = bars(
                    drawing,
                    y + 10,
                    distribution.rows().stream()
                            .map(bucket ->
                                    new Bar(AnswerValues.range(bucket, distribution.unsigned(), unit), bucket.count()))
                            .toList());
            y = heat(drawing, y, valuesOverTime(row, distribution));
        }
        int height = y + ROW;
        out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\""
                + (HeatMap.WIDTH + 20) + "\" height=\"" + height + "\" viewBox=\"0 0 " + (HeatMap.WIDTH + 20) + " "
                + height + "\" class=\"drawn\" role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">"
                + Markup.text(title)
                + "</title>\n<style>\n" + Style.DRAWING
                + "</style>\n<rect width=\"100%\" height=\"100%\" style=\"fill: var(--back)\"/>\n");
        out.append(drawing).append("</svg>\n");
    }

    private record Bar(String label, long count) {}

    private static int bars(StringBuilder out, int top, List<Bar> bars) {
        long most = Math.max(1, bars.stream().mapToLong(Bar::count).max().orElse(1));
        int y = top;
        for (Bar bar : bars) {
            double width = (double) MAX_BAR_WIDTH * bar.count() / most;
            HeatMap.text(out, LABELS - 8, y + 14, "end", CellWidth.cut(bar.label(), MAX_LABEL_LENGTH));
            HeatMap.rect(out, LABELS, y + 3, Math.max(bar.count() > 0 ? 1 : 0, width), ROW - 6, "bar", "");
            HeatMap.text(out, LABELS + width + 6, y + 14, "label", Long.toString(bar.count()));
            y += ROW;
        }
        return y;
    }

    private static int heat(StringBuilder out, int top, List<HeatMap> maps) {
        int y = top;
        for (HeatMap map : maps) {
            y += ROW;
            HeatMap.text(out, 20, y, "label", map.title());
            map.draw(out, y + 10);
            y += 10 + map.height();
        }
        return y;
    }
}
