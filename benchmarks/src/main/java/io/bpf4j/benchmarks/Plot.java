package io.bpf4j.benchmarks;

import io.bpf4j.benchmarks.Comparison.Size;
import io.bpf4j.benchmarks.Comparison.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Draws how the time of a piece of work grows with its size: a line through the medians of each way, and a band from the
 * shortest time to the slowest tenth. Both axes are logarithmic, so that a straight line of slope 1 is linear growth.
 */
final class Plot {
    private static final int WIDTH = 640;
    private static final int HEIGHT = 400;
    private static final int LEFT = 60;
    private static final int RIGHT = 150;
    private static final int TOP = 40;
    private static final int BOTTOM = 45;

    /** Of Okabe and Ito's palette, which colour-blind readers can tell apart. */
    private static final List<String> COLOURS = List.of("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00");

    private final String name;
    private final Work work;
    private final List<Map.Entry<Size, Map<String, Times>>> points;
    private final double fromX;
    private final double toX;
    private final double fromY;
    private final double toY;
    private final StringBuilder out = new StringBuilder();

    private Plot(String name, Work work) {
        this.name = name;
        this.work = work;
        this.points = work.sizes.entrySet().stream()
                .filter(entry -> entry.getKey().number().filter(n -> n > 0).isPresent()) // zero has no logarithm
                .toList();
        this.fromX = points.stream().mapToDouble(Plot::size).min().orElseThrow();
        this.toX = points.stream().mapToDouble(Plot::size).max().orElseThrow();
        this.fromY = decade(
                points.stream()
                        .flatMap(point -> point.getValue().values().stream())
                        .mapToDouble(Times::shortest)
                        .min()
                        .orElseThrow(),
                false);
        this.toY = decade(
                points.stream()
                        .flatMap(point -> point.getValue().values().stream())
                        .mapToDouble(Times::slowTenth)
                        .max()
                        .orElseThrow(),
                true);
    }

    /** Whether there are enough sizes to draw. */
    static boolean isPossible(Work work) {
        return work.sizes.keySet().stream()
                        .filter(size -> size.number().filter(n -> n > 0).isPresent())
                        .count()
                >= 3;
    }

    /** The picture as SVG. */
    static String svg(String name, Work work) {
        return new Plot(name, work).draw();
    }

    private static double size(Map.Entry<Size, Map<String, Times>> point) {
        return point.getKey().number().orElseThrow();
    }

    private static double decade(double value, boolean up) {
        double exponent = Math.log10(value);
        return Math.pow(10, up ? Math.ceil(exponent) : Math.floor(exponent));
    }

    private double x(double size) {
        return LEFT + (WIDTH - LEFT - RIGHT) * Math.log(size / fromX) / Math.log(toX / fromX);
    }

    private double y(double time) {
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * Math.log(time / fromY) / Math.log(toY / fromY);
    }

    private String draw() {
        add(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\""
                        + " font-family=\"sans-serif\" font-size=\"12\">",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
        add("<title>%s: time by size</title>", name);
        add("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>", WIDTH, HEIGHT);
        add("<text x=\"%d\" y=\"22\" font-size=\"15\">%s, %s</text>", LEFT, name, work.unit);
        for (double time = fromY; time <= toY * 1.01; time *= 10) {
            add(
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#dddddd\"/>",
                    LEFT, y(time), WIDTH - RIGHT, y(time));
            add("<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>", LEFT - 6, y(time) + 4, plain(time));
        }
        for (Map.Entry<Size, Map<String, Times>> point : points) {
            add(
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%,d</text>",
                    x(size(point)),
                    HEIGHT - BOTTOM + 18,
                    point.getKey().number().orElseThrow());
        }
        int number = 0;
        for (String way : work.ways()) {
            way(way, COLOURS.get(number % COLOURS.size()), number);
            number++;
        }
        return out.append("</svg>\n").toString();
    }

    private void way(String way, String colour, int number) {
        List<String> medians = new ArrayList<>();
        List<String> low = new ArrayList<>();
        List<String> high = new ArrayList<>();
        for (Map.Entry<Size, Map<String, Times>> point : points) {
            Times times = point.getValue().get(way);
            if (times != null) {
                medians.add(pair(size(point), times.median()));
                low.add(pair(size(point), times.shortest()));
                high.addFirst(pair(size(point), times.slowTenth()));
            }
        }
        if (medians.isEmpty()) {
            return;
        }
        add(
                "<polygon points=\"%s %s\" fill=\"%s\" fill-opacity=\"0.15\"/>",
                String.join(" ", low), String.join(" ", high), colour);
        add(
                "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>",
                String.join(" ", medians), colour);
        int at = TOP + 18 * number;
        add("<rect x=\"%d\" y=\"%d\" width=\"12\" height=\"12\" fill=\"%s\"/>", WIDTH - RIGHT + 12, at, colour);
        add("<text x=\"%d\" y=\"%d\">%s</text>", WIDTH - RIGHT + 30, at + 11, way);
    }

    private String pair(double size, double time) {
        return String.format(Locale.ROOT, "%.1f,%.1f", x(size), y(time));
    }

    private static String plain(double time) {
        return time >= 1 ? String.format(Locale.ROOT, "%,.0f", time) : Double.toString(time);
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
    private void add(String format, Object... values) {
        out.append(String.format(Locale.ROOT, format, values)).append('\n');
    }
}
