package io.bpf4j.cli.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;

/**
 * Rows in columns that are as wide as their widest cell. The last column is not padded, so no line ends in blanks.
 * Cells contain names from untrusted files, so control characters are shown as escapes.
 *
 * <p><i>Confined.</i>
 */
public final class Table {
    /** The maximum width of a column. A longer cell extends past its column and does not widen the other rows. */
    private static final int MAX_WIDTH = 64;

    /** The minimum width of a column that is cut to fit the terminal. */
    private static final int MIN_WIDTH = 4;

    private final String indent;
    private final List<List<String>> rows = new ArrayList<>();
    private boolean headed;
    private int kept;

    public Table(String indent) {
        this.indent = indent;
    }

    public Table row(String... cells) {
        rows.add(Arrays.stream(cells).map(Text::printable).toList());
        return this;
    }

    /** Adds the first row, which names the columns. */
    public Table header(String... cells) {
        headed = true;
        return row(cells);
    }

    /** Makes the first columns keep their width: they have numbers, and a cut number is wrong. */
    public Table keeping(int columns) {
        kept = columns;
        return this;
    }

    public void print(Console console) {
        lines().forEach(console::line);
    }

    /** Prints the table in colours. At a terminal it fits the width. */
    public void print(Console console, Paint paint) {
        lines(console.columns(), paint).forEach(console::line);
    }

    List<String> lines() {
        return lines(OptionalInt.empty(), Paint.NONE);
    }

    /** The lines of the table, at most {@code columns} wide. A cut cell ends in {@code …}. */
    public List<String> lines(OptionalInt columns, Paint paint) {
        List<Integer> widths = widths(columns.isPresent() ? Integer.MAX_VALUE : MAX_WIDTH);
        columns.ifPresent(maxWidth -> shrink(widths, maxWidth - indent.length() - 2 * (widths.size() - 1)));
        List<String> lines = new ArrayList<>();
        for (List<String> row : rows) {
            List<String> cells = columns.isEmpty() ? row : cut(row, widths);
            String line = line(cells, widths);
            String fitting = columns.isEmpty() ? line : CellWidth.cut(line, columns.getAsInt());
            lines.add(headed && lines.isEmpty() ? paint.strong(fitting) : fitting);
        }
        return lines;
    }

    private static List<String> cut(List<String> row, List<Integer> widths) {
        List<String> cells = new ArrayList<>();
        for (int i = 0; i < row.size(); i++) {
            cells.add(CellWidth.cut(row.get(i), widths.get(i)));
        }
        return cells;
    }

    /** Narrows the widest columns until all fit, but none below {@link #MIN_WIDTH}. */
    private void shrink(List<Integer> widths, int room) {
        int sum = widths.stream().mapToInt(Integer::intValue).sum();
        List<Integer> others = widths.subList(Math.min(kept, widths.size()), widths.size());
        while (sum > room && !others.isEmpty()) {
            int widest = Collections.max(others);
            if (widest <= MIN_WIDTH) {
                return;
            }
            others.set(others.lastIndexOf(widest), widest - 1);
            sum--;
        }
    }

    private List<Integer> widths(int maxWidth) {
        List<Integer> widths = new ArrayList<>();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                int width = Math.min(CellWidth.of(row.get(i)), maxWidth);
                if (i == widths.size()) {
                    widths.add(width);
                } else {
                    widths.set(i, Math.max(widths.get(i), width));
                }
            }
        }
        return widths;
    }

    private String line(List<String> row, List<Integer> widths) {
        StringBuilder line = new StringBuilder(indent);
        for (int i = 0; i < row.size(); i++) {
            String cell = row.get(i);
            line.append(cell);
            if (i < row.size() - 1) {
                line.repeat(' ', Math.max(0, widths.get(i) - CellWidth.of(cell)) + 2);
            }
        }
        return line.toString().stripTrailing();
    }
}
