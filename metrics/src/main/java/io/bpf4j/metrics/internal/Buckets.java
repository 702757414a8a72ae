package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Distribution;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * The buckets of an answer, and the buckets that a metric makes of them. <i>Immutable.</i>
 *
 * <p>Both libraries accept counts of buckets and not single values, so each event counts as if it had the largest value
 * of its bucket of the answer. This never depends on other events. The largest value that has been seen would be more
 * precise, but it grows, and then events would move from one bucket of the metric to the next: Prometheus takes a count
 * that decreases for a restart.
 *
 * <p><b>Fixed bounds</b> are ends of buckets of the answer. So the count of each bound has all events up to the bound,
 * and no other.
 *
 * <p><b>Exponential buckets</b> have the bounds 2^(i/4) in the base unit, for every integer i: schema 2 of Prometheus'
 * native histograms, scale 2 of OpenTelemetry. Those of the answer have four for each power of two, too, but of one
 * width and in nanoseconds. They differ, so an event is in its exponential bucket or in one above it. As a bucket of
 * the answer ends less than 25 % above its first value, and the exponential one at most 19 % above that, a quantile is
 * never too low, and less than 49 % too high. All counts together are right.
 */
public final class Buckets {
    /** The number of buckets for a power of two: {@code 2^2}. */
    public static final int SCALE = 2;

    private static final int MOST_BOUNDS = 20;
    private static final int DEFAULT_BOUNDS = 13;

    /** The bounds of exponential buckets from 1 to 2, without 2. */
    private static final double[] ROOTS = {1, Math.pow(2, 0.25), Math.sqrt(2), Math.pow(2, 0.75)};

    private final boolean unsigned;
    private final BaseUnit unit;
    private final BigInteger[] ends;
    private final Map<Long, Integer> byStart = new HashMap<>();

    /** The last bucket of the answer up to each fixed bound. */
    private final int[] lastOfBound;

    private final List<Double> bounds;

    /** The value of each bucket of the answer in the base unit. */
    private final double[] values;

    /**
     * @param empty all buckets of the answer
     * @param requested bounds in the base unit; empty for the default ones
     */
    Buckets(Distribution empty, BaseUnit unit, List<Double> requested) {
        this.unsigned = empty.unsigned();
        this.unit = unit;
        List<Distribution.Bucket> all = empty.buckets();
        ends = all.stream().map(bucket -> number(bucket.to())).toArray(BigInteger[]::new);
        IntStream.range(0, all.size()).forEach(i -> byStart.put(all.get(i).from(), i));
        lastOfBound = !requested.isEmpty() ? lastOf(requested) : empty.linear() ? everyNth() : powersOfFour();
        bounds =
                Arrays.stream(lastOfBound).mapToObj(last -> unit.of(ends[last])).toList();
        values = Arrays.stream(ends).mapToDouble(unit::of).toArray();
        // The last bucket ends only where 64-bit numbers end.
        values[values.length - 1] = unit.of(number(all.getLast().from()));
    }

    private BigInteger number(long value) {
        return unsigned ? new BigInteger(Long.toUnsignedString(value)) : BigInteger.valueOf(value);
    }

    /** Bounds beyond the start of the last bucket are left out; only infinity remains, which every histogram has. */
    private int[] lastOf(List<Double> requested) {
        TreeSet<Integer> last = new TreeSet<>();
        for (double bound : requested) {
            int found = bucketOf(unit.floor(bound));
            if (found < ends.length - 1) {
                last.add(found);
            }
        }
        return last.stream().mapToInt(Integer::intValue).toArray();
    }

    private int bucketOf(BigInteger value) {
        int found = Arrays.binarySearch(ends, value);
        return Math.min(found < 0 ? -found - 1 : found, ends.length - 1);
    }

    private int[] everyNth() {
        int step = Math.ceilDiv(ends.length - 1, MOST_BOUNDS);
        return IntStream.range(0, ends.length - 1)
                .filter(bucket -> (ends.length - 2 - bucket) % step == 0)
                .toArray();
    }

    private int[] powersOfFour() {
        int first = unit.kind() != BaseUnit.Kind.SECONDS ? 4 : unit.digits() == 9 ? 10 : 0;
        return IntStream.range(0, DEFAULT_BOUNDS)
                .map(i -> bucketOf(BigInteger.TWO.pow(first + 2 * i).subtract(BigInteger.ONE)))
                .toArray();
    }

    /** The fixed bounds, ascending, without infinity. */
    public List<Double> bounds() {
        return bounds;
    }

    /** A histogram without events. */
    Histogram empty() {
        return new Histogram(this, new long[ends.length], BigInteger.ZERO, true);
    }

    /** The events of a row. */
    Histogram of(Distribution row) {
        long[] counts = new long[ends.length];
        if (!row.buckets().isEmpty()) {
            int first = byStart.getOrDefault(row.buckets().getFirst().from(), 0);
            for (int i = 0; i < row.buckets().size(); i++) {
                counts[first + i] = row.buckets().get(i).count();
            }
        }
        // With negative values a sum may decrease, which Prometheus takes for a counter reset. The mean shows whether
        // the sum overflowed.
        boolean known = row.count() == 0 || (!Double.isNaN(row.mean()) && (unsigned || row.min() >= 0));
        return new Histogram(this, counts, number(row.sum()), known);
    }

    /** The number of events in each fixed bucket, without those of lower buckets, and last those above all bounds. */
    long[] fixed(long[] counts) {
        long[] fixed = new long[lastOfBound.length + 1];
        int at = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            while (at < lastOfBound.length && bucket > lastOfBound[at]) {
                at++;
            }
            fixed[at] += counts[bucket];
        }
        return fixed;
    }

    /** The exponential buckets that have events. */
    Histogram.Exponential exponential(long[] counts) {
        long zero = 0;
        List<Histogram.Indexed> positive = new ArrayList<>();
        List<Histogram.Indexed> negative = new ArrayList<>();
        for (int bucket = 0; bucket < counts.length; bucket++) {
            double value = values[bucket];
            if (counts[bucket] == 0) {
                continue;
            }
            if (value == 0) {
                zero += counts[bucket];
            } else {
                add(value > 0 ? positive : negative, index(Math.abs(value)), counts[bucket]);
            }
        }
        return new Histogram.Exponential(zero, List.copyOf(positive), List.copyOf(negative.reversed()));
    }

    private static void add(List<Histogram.Indexed> to, int index, long count) {
        if (!to.isEmpty() && to.getLast().index() == index) {
            to.add(new Histogram.Indexed(index, to.removeLast().count() + count));
        } else {
            to.add(new Histogram.Indexed(index, count));
        }
    }

    /** The i for which 2^((i-1)/4) is less than the value, and 2^(i/4) is not. */
    static int index(double value) {
        int exponent = Math.getExponent(value);
        double fraction = value / Math.scalb(1.0, exponent);
        int smaller = 0;
        while (smaller < ROOTS.length && ROOTS[smaller] < fraction) {
            smaller++;
        }
        return (exponent << SCALE) + smaller;
    }

    double sum(BigInteger total) {
        return unit.of(total);
    }
}
