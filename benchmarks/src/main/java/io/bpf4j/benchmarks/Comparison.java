package io.bpf4j.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * The times of each piece of work, by size of the target and by the way to do it.
 *
 * <p>The shortest time says what the work costs, the median what a user waits for: the kernel's own grace periods make
 * the difference. The slowest tenth says how much a shot differs from the next. Some times are also shown as a rate, by
 * bpf4j's median: sites or attaches per second.
 * <i>Confined.</i>
 */
final class Comparison {
    static final String BPF4J = "bpf4j";

    /** Work whose time is also shown as a rate: what is counted, and how many of it there are for each unit of the size. */
    private static final Map<String, Rate> RATES = Map.of(
            "attach", new Rate("sites/s", 1),
            "attachFound", new Rate("sites/s", 1),
            "attachSmall", new Rate("attaches/s", ConcurrentBenchmark.SMALL_ATTACHES));

    private record Rate(String counted, int each) {
        /** By the median time in milliseconds. */
        String text(Size size, Times times) {
            double rate = size.number().orElse(0L) * each / times.median() * 1000;
            return String.format(Locale.ROOT, "%,14.0f", rate);
        }
    }

    /** The secondary result of JMH's GC profiler. */
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    /** Sizes in the order of their numbers, then names. Work that has no size has the empty name. */
    record Size(String text) implements Comparable<Size> {
        Optional<Long> number() {
            return !text.isEmpty() && text.chars().allMatch(Character::isDigit)
                    ? Optional.of(Long.parseLong(text))
                    : Optional.empty();
        }

        @Override
        public int compareTo(Size other) {
            int byNumber =
                    Long.compare(number().orElse(Long.MAX_VALUE), other.number().orElse(Long.MAX_VALUE));
            return byNumber != 0 ? byNumber : text.compareTo(other.text);
        }
    }

    /**
     * How times grow with the size.
     *
     * @param exponent 1 is linear
     * @param from the smallest size that counts
     * @param to the largest
     */
    record Growth(double exponent, long from, long to) {}

    /** One piece of work. */
    static final class Work {
        final SortedMap<Size, Map<String, Times>> sizes = new TreeMap<>();
        /** Bytes that bpf4j allocates for the work, with what undoes it after each shot. */
        final Map<Size, Double> allocated = new HashMap<>();

        String unit = "";

        Times of(String size, String way) {
            return sizes.computeIfAbsent(new Size(size), _ -> new LinkedHashMap<>())
                    .computeIfAbsent(way, _ -> new Times());
        }

        Set<String> ways() {
            Set<String> ways = new LinkedHashSet<>();
            if (sizes.values().stream().anyMatch(times -> times.containsKey(BPF4J))) {
                ways.add(BPF4J);
            }
            sizes.values().forEach(times -> ways.addAll(times.keySet()));
            return ways;
        }

        /** The library that bpf4j is compared with: {@code libbpf 1.5}. */
        private Optional<String> peer() {
            return ways().stream().filter(way -> way.startsWith("libbpf")).findFirst();
        }

        /**
         * The growth of bpf4j's shortest times with the size. From sizes of at least a hundred, or the three largest if
         * fewer are as large; what does not depend on the size hides it below.
         */
        Optional<Growth> growth() {
            List<Long> numbers = sizes.entrySet().stream()
                    .filter(entry -> entry.getValue().containsKey(BPF4J))
                    .flatMap(entry -> entry.getKey().number().stream())
                    .filter(number -> number > 0)
                    .toList();
            if (numbers.size() < 3) {
                return Optional.empty();
            }
            long from = Math.min(100, numbers.get(numbers.size() - 3));
            List<double[]> points = new ArrayList<>();
            sizes.forEach((size, ways) -> {
                Times own = ways.get(BPF4J);
                long number = size.number().orElse(0L);
                if (own != null && number >= from) {
                    points.add(new double[] {Math.log((double) number), Math.log(own.shortest())});
                }
            });
            double meanX = points.stream().mapToDouble(p -> p[0]).average().orElseThrow();
            double meanY = points.stream().mapToDouble(p -> p[1]).average().orElseThrow();
            double both = points.stream()
                    .mapToDouble(p -> (p[0] - meanX) * (p[1] - meanY))
                    .sum();
            double square = points.stream()
                    .mapToDouble(p -> (p[0] - meanX) * (p[0] - meanX))
                    .sum();
            long first = numbers.stream()
                    .filter(number -> number >= from)
                    .findFirst()
                    .orElseThrow();
            return Optional.of(new Growth(both / square, first, numbers.getLast()));
        }
    }

    private final Map<String, Work> works = new LinkedHashMap<>();

    Map<String, Work> works() {
        return works;
    }

    /** Takes the result of a benchmark method: its name is the work, its only parameter the size. */
    void add(RunResult result) {
        String method = result.getParams().getBenchmark();
        List<String> sizes = new ArrayList<>();
        for (String key : result.getParams().getParamsKeys()) {
            sizes.add(result.getParams().getParam(key));
        }
        String size = String.join(" ", sizes);
        Work work = work(method.substring(method.lastIndexOf('.') + 1));
        // "ns/op"
        work.unit = result.getPrimaryResult().getScoreUnit().replace("/op", "");
        List<Double> shots = new ArrayList<>();
        result.getPrimaryResult().getStatistics().getRawData().forEachRemaining(entry -> {
            for (long i = 0; i < entry.getValue(); i++) {
                shots.add(entry.getKey());
            }
        });
        work.of(size, BPF4J)
                .addAll(shots.stream().mapToDouble(Double::doubleValue).toArray());
        Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
        if (allocated != null) {
            work.allocated.put(new Size(size), allocated.getScore());
        }
    }

    /** Takes what another program measured. */
    void add(String way, String work, String size, String unit, double[] figures) {
        work(work).unit = unit;
        work(work).of(size, way).addAll(figures);
    }

    private Work work(String name) {
        return works.computeIfAbsent(name, _ -> new Work());
    }

    /**
     * A table per piece of work: a line for each size, three columns for each way.
     *
     * @param quiet whether the machine was quiet enough to compare; if not, there are no ratios
     */
    String table(boolean quiet) {
        StringBuilder out = new StringBuilder();
        works.forEach((name, work) -> {
            if (!work.ways().contains(BPF4J)) {
                return; // a pattern left it out
            }
            Optional<String> peer = quiet ? work.peer() : Optional.empty();
            out.append(String.format(Locale.ROOT, "%n%-26s", name));
            work.ways().forEach(way -> out.append(String.format(Locale.ROOT, "%30s", way)));
            peer.ifPresent(way -> out.append(String.format(Locale.ROOT, "%22s", "bpf4j : " + way)));
            out.append(String.format(Locale.ROOT, "%n%-26s", work.unit));
            work.ways().forEach(_ -> out.append(String.format(Locale.ROOT, "%10s%10s%10s", "min", "median", "p90")));
            peer.ifPresent(_ -> out.append(String.format(Locale.ROOT, "%12s%10s", "min", "median")));
            Optional<Rate> rate = Optional.ofNullable(RATES.get(name));
            rate.ifPresent(r -> out.append(String.format(Locale.ROOT, "%14s", r.counted())));
            out.append(work.allocated.isEmpty() ? "" : String.format(Locale.ROOT, "%14s", "KB allocated"));
            out.append(System.lineSeparator());
            work.sizes.forEach((size, byWay) -> line(out, work, size, byWay, peer, rate));
            work.growth()
                    .ifPresent(growth -> out.append(String.format(
                            Locale.ROOT,
                            "grows with size^%.2f (%,d to %,d)%n",
                            growth.exponent,
                            growth.from,
                            growth.to)));
        });
        return out.toString();
    }

    private static String ratio(double own, double theirs) {
        return theirs == 0 ? "-" : String.format(Locale.ROOT, "%.2fx", own / theirs);
    }

    private static void line(
            StringBuilder out,
            Work work,
            Size size,
            Map<String, Times> byWay,
            Optional<String> peer,
            Optional<Rate> rate) {
        out.append(String.format(Locale.ROOT, "%-26s", size.text()));
        for (String way : work.ways()) {
            Times times = byWay.get(way);
            out.append(
                    times == null
                            ? String.format(Locale.ROOT, "%10s%10s%10s", "-", "-", "-")
                            : String.format(
                                    Locale.ROOT,
                                    "%10.3f%10.3f%10.3f",
                                    times.shortest(),
                                    times.median(),
                                    times.slowTenth()));
        }
        if (peer.isPresent()) {
            Times own = byWay.get(BPF4J);
            Times theirs = byWay.get(peer.get());
            out.append(
                    own == null || theirs == null
                            ? String.format(Locale.ROOT, "%12s%10s", "-", "-")
                            : String.format(
                                    Locale.ROOT,
                                    "%12s%10s",
                                    ratio(own.shortest(), theirs.shortest()),
                                    ratio(own.median(), theirs.median())));
        }
        Times ours = byWay.get(BPF4J);
        if (rate.isPresent()) {
            out.append(
                    ours == null
                            ? String.format(Locale.ROOT, "%14s", "-")
                            : rate.get().text(size, ours));
        }
        Double allocated = work.allocated.get(size);
        if (allocated != null) {
            out.append(String.format(Locale.ROOT, "%14.1f", allocated / 1024));
        }
        out.append(System.lineSeparator());
    }
}
