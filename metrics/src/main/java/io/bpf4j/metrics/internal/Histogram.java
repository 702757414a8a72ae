package io.bpf4j.metrics.internal;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;

/** The events of one series, in the buckets of their answer. <i>Immutable.</i> */
public final class Histogram {
    private final Buckets buckets;

    /** One for each bucket of the answer. */
    private final long[] counts;

    /** The sum of the values, in the answer's unit. */
    private final BigInteger total;

    private final boolean sumIsKnown;

    /** Events in the exponential bucket with this number, whose upper bound is 2^(index/4). */
    public record Indexed(int index, long count) {}

    /**
     * The exponential buckets that have events.
     *
     * @param zero events whose value is 0
     * @param positive ascending
     * @param negative of the values without their sign, ascending
     */
    public record Exponential(long zero, List<Indexed> positive, List<Indexed> negative) {}

    /** @param sumIsKnown false if the sum may have exceeded 64 bits, or has negative values and so may decrease */
    Histogram(Buckets buckets, long[] counts, BigInteger total, boolean sumIsKnown) {
        this.buckets = buckets;
        this.counts = counts.clone();
        this.total = total;
        this.sumIsKnown = sumIsKnown;
    }

    public Buckets buckets() {
        return buckets;
    }

    public long count() {
        return Arrays.stream(counts).sum();
    }

    /** The sum in the base unit, rounded once to a double; NaN if it is unknown. */
    public double sum() {
        return sumIsKnown ? buckets.sum(total) : Double.NaN;
    }

    /**
     * The number of events in each fixed bucket, without those of lower buckets; one more element than there are
     * bounds.
     */
    public long[] fixed() {
        return buckets.fixed(counts);
    }

    public Exponential exponential() {
        return buckets.exponential(counts);
    }

    /** Adds the events of another histogram. */
    Histogram plus(Histogram other) {
        long[] sums = counts.clone();
        Arrays.setAll(sums, i -> sums[i] + other.counts[i]);
        return new Histogram(buckets, sums, total.add(other.total), sumIsKnown && other.sumIsKnown);
    }
}
