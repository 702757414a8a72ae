package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.util.Statistics;

/**
 * One table per piece of work: a line for each size of the target, a pair of columns for each way to do it. The
 * shortest time says what the work costs, the median what a user waits for: the kernel's own grace periods make the
 * difference.
 * <b>Confined</b>.
 */
final class Comparison {
    /** In the unit of the work. */
    private record Times(double shortest, double median) {}

    /** Sizes in the order of their numbers, then names. Work that has no size has the empty name. */
    private record Size(String text) implements Comparable<Size> {
        private long number() {
            return !text.isEmpty() && text.chars().allMatch(Character::isDigit) ? Long.parseLong(text) : Long.MAX_VALUE;
        }

        @Override
        public int compareTo(Size other) {
            int byNumber = Long.compare(number(), other.number());
            return byNumber != 0 ? byNumber : text.compareTo(other.text);
        }
    }

    private final Map<String, Map<Size, Map<String, Times>>> works = new LinkedHashMap<>();

    /** Milliseconds, if nothing else is said. */
    private final Map<String, String> units = new HashMap<>();

    /** Takes the result of a benchmark method: its name is the work, its only parameter the size. */
    void add(RunResult result) {
        String method = result.getParams().getBenchmark();
        String work = method.substring(method.lastIndexOf('.') + 1);
        List<String> sizes = new ArrayList<>();
        for (String key : result.getParams().getParamsKeys()) {
            sizes.add(result.getParams().getParam(key));
        }
        // "ns/op"
        units.put(work, result.getPrimaryResult().getScoreUnit().replace("/op", ""));
        Statistics times = result.getPrimaryResult().getStatistics();
        add(work, String.join(" ", sizes), "bpf4j", new Times(times.getMin(), times.getPercentile(50)));
    }

    /** Takes the lines of the C harness: way, work, size, shortest and median time, with tabs between. */
    void addYardstick(Path file) throws IOException {
        for (String line : Files.readAllLines(file)) {
            String[] fields = line.split("\t", -1);
            if (fields.length != 5) {
                throw new IOException(file + ": not five fields with tabs between: " + line);
            }
            add(
                    fields[1],
                    fields[2],
                    fields[0],
                    new Times(Double.parseDouble(fields[3]), Double.parseDouble(fields[4])));
        }
    }

    private void add(String work, String size, String way, Times times) {
        works.computeIfAbsent(work, key -> new LinkedHashMap<>())
                .computeIfAbsent(new Size(size), key -> new LinkedHashMap<>())
                .put(way, times);
    }

    String table() {
        StringBuilder out = new StringBuilder();
        works.forEach((work, sizes) -> {
            Set<String> ways = new LinkedHashSet<>();
            sizes.values().forEach(times -> ways.addAll(times.keySet()));
            out.append(String.format(Locale.ROOT, "%n%-26s", work));
            ways.forEach(way -> out.append(String.format(Locale.ROOT, "%22s", way)));
            out.append(String.format(Locale.ROOT, "%n%-26s", units.getOrDefault(work, "ms")));
            ways.forEach(way -> out.append(String.format(Locale.ROOT, "%12s%10s", "min", "median")));
            out.append(System.lineSeparator());
            for (Size size : new TreeSet<>(sizes.keySet())) {
                out.append(String.format(Locale.ROOT, "%-26s", size.text()));
                for (String way : ways) {
                    Times times = sizes.getOrDefault(size, Map.of()).get(way);
                    out.append(
                            times == null
                                    ? String.format(Locale.ROOT, "%12s%10s", "-", "-")
                                    : String.format(Locale.ROOT, "%12.3f%10.3f", times.shortest(), times.median()));
                }
                out.append(System.lineSeparator());
            }
        });
        return out.toString();
    }
}
