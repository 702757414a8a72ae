package io.bpf4j.cli.question;

import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Table;
import io.bpf4j.trace.Answer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The table of {@code top}: events per second by key, in an order that the reader chooses.
 *
 * <p>A reader can hide keys. Rows that differ in hidden keys only become one row. A new key needs a new question,
 * because the kernel counts by the keys of the question.
 *
 * <p><i>Confined.</i>
 *
 * <p>Tested by {@code TopTableTest}.
 */
public final class TopTable {
    private static final int RATE = 0;
    private static final int TOTAL = 1;
    private static final int FIRST_KEY = 2;
    private static final String RATE_NAME = "EVENTS/S";
    private static final String TOTAL_NAME = "TOTAL";

    private List<Changes.Change> changes = List.of();
    private double seconds = 1;
    private List<String> names = List.of();
    private final Set<String> hidden = new HashSet<>();
    private int sortedBy;
    private boolean reversed;

    /** A line of the table. */
    private record Row(long recent, long total, List<Object> key) {}

    /**
     * Adds the new events.
     *
     * @param seconds the time in which the events occurred
     */
    public void update(List<Changes.Change> changes, double seconds) {
        this.changes = changes;
        this.seconds = seconds;
        if (!changes.isEmpty()) {
            names = List.copyOf(changes.getFirst().key().keySet());
        }
    }

    /** Handles a typed key; returns whether it is one of the table's. */
    public boolean type(String key) {
        switch (key) {
            case "<" ->
                sortedBy = Math.floorMod(sortedBy - 1, FIRST_KEY + shownNames().size());
            case ">" ->
                sortedBy = Math.floorMod(sortedBy + 1, FIRST_KEY + shownNames().size());
            case "r" -> reversed = !reversed;
            default -> {
                int number = key.length() == 1 ? key.charAt(0) - '0' : 0;
                if (number < 1 || number > Math.min(9, names.size())) {
                    return false;
                }
                String name = names.get(number - 1);
                if (!hidden.remove(name)) {
                    hidden.add(name);
                }
                sortedBy = Math.min(sortedBy, FIRST_KEY + shownNames().size() - 1);
            }
        }
        return true;
    }

    /** The keys, in the order of their numbers. */
    public List<String> names() {
        return names;
    }

    /** The keys with the most new events; keys without new events are left out. */
    public List<Answer.Row> recent(int maxRows) {
        return changes.stream()
                .filter(change -> change.count() > 0)
                .limit(maxRows)
                .map(change -> new Answer.Row(
                        change.key(), change.count(), Optional.empty(), Optional.empty(), Optional.empty()))
                .toList();
    }

    /** Events per second, of all keys. */
    public long rate() {
        return perSecond(changes.stream().mapToLong(Changes.Change::count).sum());
    }

    public long total() {
        return changes.stream().mapToLong(Changes.Change::total).sum();
    }

    public long perSecond(long count) {
        return Math.round(count / seconds);
    }

    private List<String> shownNames() {
        return names.stream().filter(name -> !hidden.contains(name)).toList();
    }

    private List<Row> rows() {
        Map<List<Object>, Row> merged = new LinkedHashMap<>();
        List<String> shown = shownNames();
        for (Changes.Change change : changes) {
            List<Object> key = shown.stream()
                    .map(name -> change.key().getOrDefault(name, ""))
                    .toList();
            merged.merge(
                    key,
                    new Row(change.count(), change.total(), key),
                    (a, b) -> new Row(a.recent() + b.recent(), a.total() + b.total(), key));
        }
        return merged.values().stream().sorted(order()).toList();
    }

    /** Orders rows by the chosen column: numbers descending, texts ascending; then by rate and by total. */
    private Comparator<Row> order() {
        Comparator<Row> byRate = Comparator.comparingLong(Row::recent).reversed();
        Comparator<Row> byTotal = Comparator.comparingLong(Row::total).reversed();
        Comparator<Row> chosen = switch (sortedBy) {
            case RATE -> byRate;
            case TOTAL -> byTotal;
            default ->
                (a, b) -> AnswerValues.compare(
                        a.key().get(sortedBy - FIRST_KEY), b.key().get(sortedBy - FIRST_KEY));
        };
        return (reversed ? chosen.reversed() : chosen)
                .thenComparing(byRate)
                .thenComparing(byTotal)
                .thenComparing(row -> row.key().toString());
    }

    /**
     * The table as lines, the first with the names of the columns.
     *
     * @param rows the maximum number of rows
     * @param columns the maximum number of columns of a line; empty if there is no bound
     */
    public List<String> lines(int rows, OptionalInt columns, Paint paint) {
        List<Row> shown = rows().stream().limit(Math.max(0, rows)).toList();
        List<String> header = new ArrayList<>(List.of(RATE_NAME, TOTAL_NAME));
        header.addAll(shownNames());
        // Every header has room for the mark of the order, so that columns don't move.
        header.replaceAll(name -> name + " ");
        header.set(sortedBy, header.get(sortedBy).stripTrailing() + (reversed ? "▲" : "▼"));
        int digits = shown.stream()
                .mapToInt(row -> Long.toString(row.total()).length())
                .max()
                .orElse(0);
        String number = "%" + Math.max(digits, RATE_NAME.length()) + "d";
        Table table = new Table("").keeping(FIRST_KEY).header(header.toArray(String[]::new));
        for (Row row : shown) {
            List<String> cells = new ArrayList<>();
            cells.add(number.formatted(perSecond(row.recent())));
            cells.add(number.formatted(row.total()));
            row.key().forEach(value -> cells.add(AnswerValues.cell(value)));
            table.row(cells.toArray(String[]::new));
        }
        return table.lines(columns, paint);
    }
}
