package io.bpf4j.trace.stack;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * A tree of stacks as a picture. A rectangle is a function; its width is its share of all counts, and the rectangles
 * above it are the functions that it called. They are sorted by name from left to right, not by time. A function that
 * is narrower than a tenth of a pixel is left out, and a name is cut, which bounds the size of the file.
 *
 * <p>The same tree gives the same bytes: colours come from the names.
 *
 * <p>Tested by {@code FlameGraphTest}.
 */
final class FlameGraph {
    private static final int WIDTH = 1200;
    private static final int ROW = 18;
    private static final int ABOVE = 64;
    private static final int BELOW = 28;
    private static final double NARROWEST = 0.1;

    /** The maximum number of characters of a name. A page has a million frames at most, and each has its name twice. */
    private static final int MAX_NAME_LENGTH = 256;

    /** Width of a letter at the font's size, in pixels. */
    private static final double LETTER = 6.7;

    private static final String SCRIPT = "flamegraph.js";

    private static final String STYLE = """
            #flamegraph { background: #fff; max-width: 100%; height: auto; font: 11px ui-monospace, Menlo, Consolas, monospace; }
            #flamegraph text { fill: #111; }
            #flamegraph .frame { cursor: pointer; }
            #flamegraph .frame text { pointer-events: none; }
            #flamegraph .frame:hover rect, #flamegraph .frame:focus rect { stroke: #000; }
            #flamegraph .found rect { fill: #d81b60; }
            #flamegraph .found text { fill: #fff; }
            #flamegraph .button { cursor: pointer; text-decoration: underline; }
            @media (prefers-color-scheme: dark) {
              #flamegraph { background: #14171c; }
              #flamegraph > text { fill: #e6e9ed; }
              #flamegraph .frame:hover rect, #flamegraph .frame:focus rect { stroke: #fff; }
            }
            """;

    private final CountedFrame root;
    private final String title;
    private final List<String> lines;
    private final int height;
    private int rows;

    /** @param lines shown below the graph */
    FlameGraph(CountedFrame root, String title, List<String> lines) {
        this.root = root;
        this.title = title;
        this.lines = List.copyOf(lines);
        measure(root, 1, share(root));
        this.height = ABOVE + rows * ROW + lines.size() * ROW + BELOW;
    }

    private void measure(CountedFrame frame, int depth, double width) {
        if (width >= NARROWEST || frame == root) {
            rows = Math.max(rows, depth);
            frame.children().forEach(child -> measure(child, depth + 1, share(child)));
        }
    }

    /** The width of a function in pixels. */
    private double share(CountedFrame frame) {
        return root.total() == 0 ? 0 : (double) frame.total() / root.total() * WIDTH;
    }

    void svg(Appendable out) throws IOException {
        out.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        open(out);
        out.append("<script><![CDATA[\n").append(script()).append("]]></script>\n</svg>\n");
    }

    void html(Appendable out) throws IOException {
        out.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                        + "<meta name=\"color-scheme\" content=\"light dark\">\n<title>")
                .append(Escape.markup(title))
                .append("</title>\n</head>\n<body>\n");
        figure(out);
        out.append("</body>\n</html>\n");
    }

    void figure(Appendable out) throws IOException {
        open(out);
        out.append("</svg>\n<script>\n").append(script()).append("</script>\n");
    }

    private static String script() throws IOException {
        try (InputStream in = FlameGraph.class.getResourceAsStream(SCRIPT)) {
            if (in == null) {
                throw new IOException("the library has no " + SCRIPT + "; its jar is incomplete");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private void open(Appendable out) throws IOException {
        String size = "width=\"" + WIDTH + "\" height=\"" + height + "\" viewBox=\"0 0 " + WIDTH + " " + height + "\"";
        out.append("<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flamegraph\" ")
                .append(size)
                .append(" role=\"group\" aria-labelledby=\"title\" data-width=\"" + WIDTH + "\" data-letter=\"" + LETTER
                        + "\">\n");
        out.append("<title id=\"title\">").append(Escape.markup(title)).append("</title>\n");
        out.append("<style>\n").append(STYLE).append("</style>\n");
        text(out, WIDTH / 2.0, 24, " text-anchor=\"middle\" font-size=\"16\" aria-hidden=\"true\"", title);
        text(out, 3, 46, " id=\"reset\" class=\"button\" role=\"button\" tabindex=\"0\"", "whole graph");
        text(out, 120, 46, " id=\"search\" class=\"button\" role=\"button\" tabindex=\"0\"", "search");
        text(out, 3, height - 10.0, " id=\"message\" aria-live=\"polite\"", "");
        int y = ABOVE + rows * ROW;
        for (String line : lines) {
            y += ROW;
            text(out, 3, y, "", line);
        }
        frame(out, root, 0, 0);
    }

    private static void text(Appendable out, double x, double y, String attributes, String text) throws IOException {
        out.append("<text x=\"")
                .append(pixels(x))
                .append("\" y=\"")
                .append(pixels(y))
                .append("\"")
                .append(attributes)
                .append(">")
                .append(Escape.markup(text))
                .append("</text>\n");
    }

    private void frame(Appendable out, CountedFrame frame, double x, int depth) throws IOException {
        double width = frame == root ? WIDTH : share(frame);
        int y = ABOVE + (rows - 1 - depth) * ROW;
        String name = Escape.markup(Names.cut(frame.name(), MAX_NAME_LENGTH));
        out.append("<g class=\"frame\" tabindex=\"0\" data-x=\"")
                .append(pixels(x))
                .append("\" data-w=\"")
                .append(pixels(width))
                .append("\" data-depth=\"")
                .append(Integer.toString(depth))
                .append("\" data-name=\"")
                .append(name)
                .append("\"><title>")
                .append(name)
                .append(": ")
                .append(amount(frame))
                .append("</title><rect x=\"")
                .append(pixels(x))
                .append("\" y=\"")
                .append(Integer.toString(y))
                .append("\" width=\"")
                .append(pixels(width))
                .append("\" height=\"" + (ROW - 1) + "\" rx=\"2\" fill=\"")
                .append(colour(frame))
                .append("\"/>");
        text(out, x + 3, y + ROW - 6.0, "", fitting(frame.name(), width));
        out.append("</g>\n");
        double left = x;
        for (CountedFrame child : frame.children()) {
            double share = share(child);
            if (share >= NARROWEST) {
                frame(out, child, left, depth + 1);
            }
            left += share;
        }
    }

    private String amount(CountedFrame frame) {
        double percent = root.total() == 0 ? 100 : 100.0 * frame.total() / root.total();
        return String.format(Locale.ROOT, "%d of %d (%.2f%%)", frame.total(), root.total(), percent);
    }

    private static String pixels(double number) {
        String text = String.format(Locale.ROOT, "%.3f", number);
        return text.endsWith(".000") ? text.substring(0, text.length() - 4) : text;
    }

    private static String fitting(String name, double width) {
        int room = (int) ((width - 6) / LETTER);
        if (room < 3) {
            return "";
        }
        if (name.length() <= room) {
            return name;
        }
        int end = room - 2;
        return name.substring(0, Character.isHighSurrogate(name.charAt(end - 1)) ? end - 1 : end) + "..";
    }

    /**
     * A light colour, on which black text is legible. The kind of code selects the range, the name the colour in it.
     */
    private static String colour(CountedFrame frame) {
        int hash = frame.name().hashCode() * 0x9e3779b9;
        int first = hash >>> 24;
        int second = hash >>> 16 & 0xff;
        return switch (frame.kind()) {
            case ROOT -> "#d0d0d0";
            case UNKNOWN -> rgb(215 + first / 16, 215 + first / 16, 215 + first / 16);
            case USER -> rgb(235 + first / 16, 145 + second * 2 / 5, 90 + first / 4);
            case COMPILED -> rgb(130 + first / 4, 200 + second / 8, 110 + first / 4);
            case KERNEL -> rgb(130 + first / 4, 185 + second / 6, 235 + first / 16);
        };
    }

    private static String rgb(int red, int green, int blue) {
        return String.format(Locale.ROOT, "#%02x%02x%02x", red, green, blue);
    }
}
