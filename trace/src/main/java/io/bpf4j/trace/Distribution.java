package io.bpf4j.trace;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * How the values of many events are distributed. <i>Immutable.</i>
 *
 * <p>Numbers are signed unless {@code unsigned}.
 *
 * <p>Buckets have one width, or each value below 8 has its own, and each power of two from 8 on has four of one width: {@code
 * 8..9}, {@code 10..11}, {@code 12..13}, {@code 14..15}, {@code 16..19}. All negative values are in one bucket then.
 *
 * @param unsigned whether values, {@code min}, {@code max} and the bounds of buckets are unsigned 64-bit numbers
 * @param linear whether all buckets have one width, except the two for what is out of range
 * @param count the number of events
 * @param sum of the values, modulo 2^64
 * @param min the smallest value; 0 if there is no event
 * @param max the largest value; 0 if there is no event
 * @param buckets without the empty ones before the first event's and after the last event's
 */
public record Distribution(
        boolean unsigned, boolean linear, long count, long sum, long min, long max, List<Bucket> buckets) {
    /** The maximum number of buckets of one width, without the two for what is out of range. */
    public static final int MAX_LINEAR_BUCKETS = 1022;

    public Distribution {
        buckets = List.copyOf(buckets);
    }

    /**
     * The events whose value is in a range.
     *
     * @param from the smallest value
     * @param to the largest value
     * @param count the number of events
     */
    public record Bucket(long from, long to, long count) {}

    /**
     * A distribution without events that has all buckets which a value can be in: one for each value below 8, and four for
     * each power of two.
     *
     * @see Answer#emptyDistribution
     */
    public static Distribution withoutEvents(boolean unsigned) {
        return Scale.POWERS_OF_TWO.withoutEvents(unsigned);
    }

    /**
     * The same with buckets of one width, as {@link Question#linear} describes them.
     *
     * @throws IllegalArgumentException if there is no bucket, more than {@link #MAX_LINEAR_BUCKETS}, or the last one does
     *     not end below 2^63 - 1
     */
    public static Distribution withoutEvents(boolean unsigned, long from, long to, long step) {
        return Scale.linear(from, to, step).withoutEvents(unsigned);
    }

    /**
     * The distribution of the events of this and of further ones, such as those of other rows or of other machines: what
     * one question would have counted. Begin with a distribution that has all buckets, such as {@link
     * Answer#emptyDistribution}, because others lack those at both ends.
     *
     * @param parts whose buckets this one has
     * @throws IllegalArgumentException if a part has another bucket, or is signed and this is not, or the reverse
     * @throws ArithmeticException if the number of events exceeds 63 bits
     */
    public Distribution plus(List<Distribution> parts) {
        long[] counts = buckets.stream().mapToLong(Bucket::count).toArray();
        long allCount = count;
        long allSum = sum;
        long smallest = min;
        long largest = max;
        for (Distribution part : parts) {
            if (part.unsigned != unsigned || part.linear != linear) {
                throw new IllegalArgumentException("distributions of two kinds: unsigned " + part.unsigned + ", linear "
                        + part.linear + " and unsigned " + unsigned + ", linear " + linear);
            }
            part.addTo(counts, buckets);
            if (part.count > 0) {
                smallest = allCount == 0 || compare(part.min, smallest) < 0 ? part.min : smallest;
                largest = allCount == 0 || compare(part.max, largest) > 0 ? part.max : largest;
                allCount = Math.addExact(allCount, part.count);
                allSum += part.sum;
            }
        }
        int first = 0;
        int end = counts.length;
        while (end > 0 && counts[end - 1] == 0) {
            end--;
        }
        while (first < end && counts[first] == 0) {
            first++;
        }
        List<Bucket> counted = IntStream.range(first, end)
                .mapToObj(i -> new Bucket(buckets.get(i).from(), buckets.get(i).to(), counts[i]))
                .toList();
        return new Distribution(unsigned, linear, allCount, allSum, smallest, largest, counted);
    }

    /** Adds the events of each bucket; both lists of buckets are in the order of the values. */
    private void addTo(long[] counts, List<Bucket> all) {
        int i = 0;
        for (Bucket bucket : buckets) {
            while (i < counts.length && all.get(i).from() != bucket.from()) {
                i++;
            }
            if (i == counts.length || all.get(i).to() != bucket.to()) {
                throw new IllegalArgumentException("no such bucket, or not in ascending order: " + number(bucket.from())
                        + " to " + number(bucket.to()));
            }
            counts[i] = Math.addExact(counts[i], bucket.count());
            i++;
        }
    }

    /** The mean of the values; NaN if there is no event, or if their sum may have exceeded 64 bits. */
    public double mean() {
        BigInteger largest = number(min).abs().max(number(max).abs()).multiply(BigInteger.valueOf(count));
        if (count == 0 || largest.bitLength() > (unsigned ? Long.SIZE : Long.SIZE - 1)) {
            return Double.NaN;
        }
        return number(sum).doubleValue() / count;
    }

    private BigInteger number(long value) {
        return unsigned ? new BigInteger(Long.toUnsignedString(value)) : BigInteger.valueOf(value);
    }

    /**
     * An upper bound of a quantile: at least this share of the events have a value that is not larger. The quantile itself,
     * the smallest value of which that is true, is in the bucket that ends there, or that has {@code max}. So unless the
     * buckets are {@code linear}, the bound is the quantile if that is below 8, and is less than 25 % above it otherwise. If
     * the quantile is negative, the bound is at most -1.
     *
     * @param share more than 0, at most 1: 0.99 for the 99th percentile
     * @throws IllegalArgumentException if the share is out of range, or there is no event
     */
    public long quantile(double share) {
        if (!(share > 0 && share <= 1) || count == 0) {
            throw new IllegalArgumentException("a quantile needs a share above 0 and up to 1, and an event: share "
                    + share + " of " + count + " events");
        }
        // As written in decimals: 0.07 * 100 is more than 7 as a double.
        long rank = BigDecimal.valueOf(share)
                .multiply(BigDecimal.valueOf(count))
                .setScale(0, RoundingMode.CEILING)
                .longValueExact();
        long seen = 0;
        for (Bucket bucket : buckets) {
            seen += bucket.count();
            if (seen >= rank) {
                return compare(bucket.to(), max) < 0 ? bucket.to() : max;
            }
        }
        return max;
    }

    /**
     * The buckets for a picture: one for each power of two, the sum of its four. Linear buckets as they are. Without the
     * empty ones before the first event's and after the last event's.
     */
    public List<Bucket> rows() {
        if (linear) {
            return buckets;
        }
        List<Bucket> rows = new ArrayList<>();
        for (Bucket bucket : buckets) {
            Bucket row = row(bucket);
            if (!rows.isEmpty() && rows.getLast().from() == row.from()) {
                Bucket before = rows.removeLast();
                row = new Bucket(row.from(), row.to(), before.count() + row.count());
            }
            rows.add(row);
        }
        return rows;
    }

    private Bucket row(Bucket bucket) {
        if (bucket.from() == 0 || (!unsigned && bucket.from() < 0)) {
            return bucket;
        }
        long power = Long.highestOneBit(bucket.from());
        return new Bucket(power, 2 * power - 1, bucket.count());
    }

    private int compare(long left, long right) {
        return unsigned ? Long.compareUnsigned(left, right) : Long.compare(left, right);
    }

    /**
     * The ranges of values that are counted together.
     *
     * @param linear whether buckets have one width, instead of four for each power of two
     * @param from the smallest value of the first bucket of one width
     * @param step the width
     * @param steps how many buckets of one width there are
     */
    record Scale(boolean linear, long from, long step, int steps) {
        /** Smaller values have a bucket each. */
        private static final int EXACT = 8;

        /** Negative values, 0 to 7, and four for each of 2^3 to 2^63: {@code bucket_of} of {@code question.bpf.c}. */
        static final Scale POWERS_OF_TWO = new Scale(false, 0, 0, 251);

        /** Buckets of one width, up to {@code to} or the next multiple of the width. */
        static Scale linear(long from, long to, long step) {
            long buckets = step <= 0 || to <= from ? 0 : Math.ceilDiv(to - from, step);
            if (buckets < 1 || buckets > MAX_LINEAR_BUCKETS) {
                throw new IllegalArgumentException("from " + from + " to " + to + " by " + step + " are " + buckets
                        + " buckets; 1 to " + MAX_LINEAR_BUCKETS + " are possible");
            }
            long last = from + (buckets - 1) * step;
            if (last > Long.MAX_VALUE - step) {
                throw new IllegalArgumentException("from " + from + " to " + to + " by " + step
                        + " the last bucket does not end below 2^63 - 1, with a bucket above it");
            }
            return new Scale(true, from, step, (int) buckets);
        }

        /** Two more than steps: below the first and above the last, or negative and 0. */
        int buckets() {
            return steps + 2;
        }

        private long lowest(int bucket, boolean unsigned) {
            long smallest = unsigned ? 0 : Long.MIN_VALUE;
            if (linear) {
                return bucket == 0 ? smallest : from + (bucket - 1) * step;
            }
            if (bucket <= EXACT) {
                return bucket == 0 ? smallest : bucket - 1;
            }
            return (4L + (bucket - 1) % 4) << ((bucket - 5) / 4);
        }

        private long highest(int bucket, boolean unsigned) {
            return bucket == buckets() - 1 ? (unsigned ? -1 : Long.MAX_VALUE) : lowest(bucket + 1, unsigned) - 1;
        }

        /**
         * All buckets that a value can be in, empty. An unsigned value is not below 0, and a signed one is below 2^63,
         * where the last four of the powers of two begin.
         */
        Distribution withoutEvents(boolean unsigned) {
            int first = unsigned && (linear ? from : 0) == 0 ? 1 : 0;
            int end = linear || unsigned ? buckets() : buckets() - 4;
            List<Bucket> all = IntStream.range(first, end)
                    .mapToObj(bucket -> new Bucket(lowest(bucket, unsigned), highest(bucket, unsigned), 0))
                    .toList();
            return new Distribution(unsigned, linear, 0, 0, 0, 0, all);
        }
    }

    /** Adds up the counts of all CPUs, each a {@code struct question_distribution}. <i>Confined.</i> */
    static final class Sums {
        private static final int HEADER = 3;

        private final Scale scale;
        private final boolean unsigned;
        private final long[] counts;
        private long sum;
        private long largest;
        private long smallestComplement;

        Sums(Scale scale, boolean unsigned) {
            this.scale = scale;
            this.unsigned = unsigned;
            this.counts = new long[scale.buckets()];
        }

        /** Adds one CPU's value, as longs: sum, largest, complement of smallest, buckets. */
        void add(long[] value) {
            sum += value[0];
            largest = max(largest, value[1]);
            smallestComplement = max(smallestComplement, value[2]);
            for (int i = 0; i < counts.length; i++) {
                counts[i] += value[HEADER + i];
            }
        }

        static int bytes(Scale scale) {
            return (HEADER + scale.buckets()) * Long.BYTES;
        }

        private static long max(long left, long right) {
            return Long.compareUnsigned(left, right) >= 0 ? left : right;
        }

        /** Extremes are in unsigned order: signed values have their sign bit flipped. */
        private long value(long ordered) {
            return unsigned ? ordered : ordered ^ Long.MIN_VALUE;
        }

        Distribution toDistribution() {
            long count = LongStream.of(counts).sum();
            List<Bucket> buckets = new ArrayList<>();
            int pending = 0;
            for (int i = 0; i < counts.length; i++) {
                if (counts[i] == 0) {
                    pending++;
                    continue;
                }
                for (int empty = buckets.isEmpty() ? i : i - pending; empty < i; empty++) {
                    buckets.add(bucket(empty));
                }
                buckets.add(bucket(i));
                pending = 0;
            }
            return new Distribution(
                    unsigned,
                    scale.linear(),
                    count,
                    sum,
                    count == 0 ? 0 : value(~smallestComplement),
                    count == 0 ? 0 : value(largest),
                    buckets);
        }

        private Bucket bucket(int index) {
            return new Bucket(scale.lowest(index, unsigned), scale.highest(index, unsigned), counts[index]);
        }
    }
}
