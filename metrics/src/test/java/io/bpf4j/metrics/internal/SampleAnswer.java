package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import io.bpf4j.trace.Gap;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An answer whose events a test makes. It has the buckets that {@link Distribution} documents. <i>Confined.</i> */
public final class SampleAnswer implements AnswerSource {
    private final List<String> keys;
    private final Optional<String> unit;
    private final List<Bucket> all;
    private final boolean linear;
    private final Map<Map<String, Object>, List<BigInteger>> events = new LinkedHashMap<>();
    private final Map<Gap, Long> gaps = new EnumMap<>(Gap.class);
    private final Set<Object> ended = new HashSet<>();
    private boolean closed;

    private SampleAnswer(List<String> keys, Optional<String> unit, List<Bucket> all, boolean linear) {
        this.keys = keys;
        this.unit = unit;
        this.all = all;
        this.linear = linear;
    }

    /** What a reader has of each combination of values; those that were too much have none. */
    static Map<Optional<List<Object>>, Long> counts(SeriesReader reader) {
        return reader.read().orElseThrow().series().stream()
                .collect(Collectors.toMap(Reading.Series::values, Reading.Series::count));
    }

    /** A combination of values. */
    static Optional<List<Object>> key(Object... values) {
        return Optional.of(List.of(values));
    }

    /** Only counts. */
    public static SampleAnswer counting(String... keys) {
        return new SampleAnswer(List.of(keys), Optional.empty(), List.of(), false);
    }

    /** Distributes unsigned values. */
    public static SampleAnswer distributing(String unit, String... keys) {
        List<Bucket> buckets = new ArrayList<>();
        for (long value = 0; value < 8; value++) {
            buckets.add(new Bucket(value, value, 0));
        }
        for (int power = 3; power < 64; power++) {
            long width = 1L << (power - 2);
            for (int quarter = 0; quarter < 4; quarter++) {
                long from = (1L << power) + quarter * width;
                buckets.add(new Bucket(from, from + width - 1, 0));
            }
        }
        return new SampleAnswer(
                List.of(keys), unit.isEmpty() ? Optional.empty() : Optional.of(unit), List.copyOf(buckets), false);
    }

    /** Distributes signed values, from 0 to 100 in steps of 10. */
    public static SampleAnswer linear() {
        List<Bucket> buckets = new ArrayList<>();
        buckets.add(new Bucket(Long.MIN_VALUE, -1, 0));
        IntStream.range(0, 10).forEach(i -> buckets.add(new Bucket(10L * i, 10L * i + 9, 0)));
        buckets.add(new Bucket(100, Long.MAX_VALUE, 0));
        return new SampleAnswer(List.of(), Optional.empty(), List.copyOf(buckets), true);
    }

    /** An event with this value, and the values of the keys in order. */
    public void add(long value, Object... key) {
        Map<String, Object> values = new LinkedHashMap<>();
        IntStream.range(0, key.length).forEach(i -> values.put(keys.get(i), key[i]));
        events.computeIfAbsent(values, _ -> new ArrayList<>()).add(number(value));
    }

    public void lose(Gap gap, long count) {
        gaps.merge(gap, count, Long::sum);
    }

    /** The unit, container or pod has ended, or, if {@code runs}, was started again. */
    public void end(String name, boolean runs) {
        boolean _ = runs ? ended.remove(name) : ended.add(name);
    }

    public void close() {
        closed = true;
    }

    private boolean unsigned() {
        return !linear;
    }

    private BigInteger number(long value) {
        return unsigned() ? new BigInteger(Long.toUnsignedString(value)) : BigInteger.valueOf(value);
    }

    @Override
    public List<String> keys() {
        return keys;
    }

    @Override
    public Optional<Distribution> emptyDistribution() {
        return all.isEmpty() ? Optional.empty() : Optional.of(new Distribution(unsigned(), linear, 0, 0, 0, 0, all));
    }

    @Override
    public Optional<String> unit() {
        return unit;
    }

    @Override
    public List<Answer.Row> rows() {
        if (closed) {
            throw new IllegalStateException("map table is closed");
        }
        return events.entrySet().stream()
                .map(entry -> new Answer.Row(
                        entry.getKey(),
                        entry.getValue().size(),
                        all.isEmpty() ? Optional.empty() : Optional.of(distribution(entry.getValue())),
                        Optional.empty(),
                        Optional.empty()))
                .toList();
    }

    private Distribution distribution(List<BigInteger> values) {
        long[] counts = new long[all.size()];
        for (BigInteger value : values) {
            int bucket = 0;
            while (number(all.get(bucket).to()).compareTo(value) < 0) {
                bucket++;
            }
            counts[bucket]++;
        }
        int[] used =
                IntStream.range(0, counts.length).filter(i -> counts[i] > 0).toArray();
        List<Bucket> buckets = IntStream.rangeClosed(used[0], used[used.length - 1])
                .mapToObj(i -> new Bucket(all.get(i).from(), all.get(i).to(), counts[i]))
                .toList();
        BigInteger[] sorted = values.stream().sorted().toArray(BigInteger[]::new);
        BigInteger sum = Arrays.stream(sorted).reduce(BigInteger.ZERO, BigInteger::add);
        return new Distribution(
                unsigned(),
                linear,
                values.size(),
                sum.longValue(),
                sorted[0].longValue(),
                sorted[sorted.length - 1].longValue(),
                buckets);
    }

    @Override
    public Map<Gap, Long> gaps() {
        return gaps;
    }

    @Override
    public boolean hasEnded(String key, Object value) {
        return ended.contains(value);
    }

    @Override
    public boolean isExact() {
        return gaps.isEmpty();
    }
}
