package io.bpf4j.cli.picture;

import io.bpf4j.cli.output.CellWidth;
import io.bpf4j.cli.output.Paint;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Counts over time as SVG: a column for each interval, and a row for each key or range of values. The colour of a cell
 * shows its number of events on a logarithmic scale. <i>Immutable.</i>
 *
 * <p>Tested by {@code AnswerPageTest}.
 *
 * @param title the title above the map
 * @param rows the labels of the rows, from the top
 * @param columns the labels of the columns: the time at which each interval ended
 * @param counts the counts, by row, then by column
 */
@SuppressWarnings("ArrayRecordComponent") // not shared, and never compared
record HeatMap(String title, List<String> rows, List<String> columns, long[][] counts) {
    static final int WIDTH = 960;

    private static final int LABELS = 190;
    private static final int MAX_LABEL_LENGTH = 24;
    private static final int MAX_ROW_HEIGHT = 22;
    private static final int CELLS_HEIGHT = 420;
    private static final int MAX_CELL_WIDTH = 40;
    private static final int BELOW = 46;
    private static final int TIME_WIDTH = 70;

    /** The height in pixels. */
    int height() {
        return rows.size() * rowHeight() + BELOW;
    }

    private int rowHeight() {
        return Math.clamp(CELLS_HEIGHT / Math.max(1, rows.size()), 12, MAX_ROW_HEIGHT);
    }

    private double cellWidth() {
        return Math.min(MAX_CELL_WIDTH, (double) (WIDTH - LABELS) / Math.max(1, columns.size()));
    }

    /** Draws the map with its upper left corner at (0, {@code top}), in pixels. */
    void draw(StringBuilder out, int top) {
        long most = Arrays.stream(counts).flatMapToLong(Arrays::stream).max().orElse(0);
        int height = rowHeight();
        double width = cellWidth();
        for (int row = 0; row < rows.size(); row++) {
            int y = top + row * height;
            text(out, LABELS - 8, y + height * 0.72, "label end", CellWidth.cut(rows.get(row), MAX_LABEL_LENGTH));
            rect(out, LABELS, y, width * columns.size(), height - 1, "h0", "");
            for (int column = 0; column < columns.size(); column++) {
                long count = counts[row][column];
                if (count > 0) {
                    String tooltip = rows.get(row) + ", " + columns.get(column) + ": " + count;
                    rect(
                            out,
                            LABELS + column * width,
                            y,
                            Math.max(0.5, width - 0.5),
                            height - 1,
                            level(count, most),
                            tooltip);
                }
            }
        }
        int below = top + rows.size() * height + 14;
        int step = (int) Math.ceil(TIME_WIDTH / width);
        String before = "";
        for (int column = 0; column < columns.size(); column += step) {
            double x = LABELS + column * width;
            if (!columns.get(column).equals(before) && x + TIME_WIDTH <= WIDTH + 10) {
                text(out, x, below, "label", columns.get(column));
                before = columns.get(column);
            }
        }
        legend(out, below + 18, most);
    }

    private static void legend(StringBuilder out, int y, long most) {
        text(out, LABELS, y, "label", "1 event");
        for (int level = 1; level <= Paint.SHADES; level++) {
            rect(out, LABELS + 48 + 16 * level, y - 10, 15, 11, "h" + level, "");
        }
        text(out, LABELS + 72 + 16 * Paint.SHADES, y, "label", most + " events");
    }

    private static String level(long count, long most) {
        double share = most <= 1 ? 1 : Math.log((double) count) / Math.log((double) most);
        return "h" + (1 + Math.round((Paint.SHADES - 1) * share));
    }

    static void text(StringBuilder out, double x, double y, String style, String text) {
        out.append("<text x=\"")
                .append(pixels(x))
                .append("\" y=\"")
                .append(pixels(y))
                .append("\" class=\"");
        out.append(style).append("\">").append(Markup.text(text)).append("</text>\n");
    }

    static void rect(StringBuilder out, double x, double y, double width, double height, String style, String tooltip) {
        out.append("<rect x=\"")
                .append(pixels(x))
                .append("\" y=\"")
                .append(pixels(y))
                .append("\" width=\"");
        out.append(pixels(width)).append("\" height=\"").append(pixels(height));
        out.append("\" class=\"").append(style).append("\"");
        out.append(tooltip.isEmpty() ? "/>\n" : "><title>" + Markup.text(tooltip) + "</title></rect>\n");
    }

    private static String pixels(double number) {
        return number == Math.rint(number) ? Long.toString((long) number) : String.format(Locale.ROOT, "%.1f", number);
    }
}
