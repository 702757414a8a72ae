package io.bpf4j.cli.output;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Rows in columns as wide as their widest cell; the last column is never padded, so no line ends in blanks. Cells
 * contain names from untrusted files: control characters for terminals are shown as escapes.
 *
 * <p><i>Confined.</i>
 */
public final class Table {
    /** A wider cell overflows its column, so that one very long name does not widen every row. */
    private static final int WIDEST = 64;

    private final String indent;
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String indent) {
        this.indent = indent;
    }

    public Table row(String... cells) {
        rows.add(Arrays.stream(cells).map(Text::printable).toList());
        return this;
    }

    public void print(Console console) {
        lines().forEach(console::line);
    }

    List<String> lines() {
        List<Integer> widths = new ArrayList<>();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                int width = Math.min(row.get(i).length(), WIDEST);
                if (i == widths.size()) {
                    widths.add(width);
                } else {
                    widths.set(i, Math.max(widths.get(i), width));
                }
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private String line(List<String> row, List<Integer> widths) {
        StringBuilder line = new StringBuilder(indent);
        for (int i = 0; i < row.size(); i++) {
            String cell = row.get(i);
            line.append(cell);
            if (i < row.size() - 1) {
                line.repeat(' ', Math.max(0, widths.get(i) - cell.length()) + 2);
            }
        }
        return line.toString().stripTrailing();
    }
}
