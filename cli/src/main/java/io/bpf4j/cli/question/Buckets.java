package io.bpf4j.cli.question;

import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * The ranges of values of several distributions: an axis on which all of them can be drawn. <i>Immutable.</i>
 *
 * <p>Tested by {@code ChangesTest}.
 *
 * @param unsigned whether the values are unsigned
 * @param all the ranges in order, without gaps; their counts are 0. Neighbouring ranges in which no distribution has a
 *     value are one range
 */
public record Buckets(boolean unsigned, List<Bucket> all) {
    /** The axis of some distributions; empty if they have no events. */
    public static Buckets of(List<Distribution> distributions) {
        boolean unsigned = !distributions.isEmpty() && distributions.getFirst().unsigned();
        Comparator<Long> order = unsigned ? Long::compareUnsigned : Long::compare;
        TreeSet<Bucket> sorted = new TreeSet<>((left, right) -> order.compare(left.from(), right.from()));
        for (Distribution distribution : distributions) {
            distribution.rows().forEach(bucket -> sorted.add(new Bucket(bucket.from(), bucket.to(), 0)));
        }
        List<Bucket> all = new ArrayList<>();
        for (Bucket bucket : sorted) {
            if (!all.isEmpty() && all.getLast().to() + 1 != bucket.from()) {
                all.add(new Bucket(all.getLast().to() + 1, bucket.from() - 1, 0));
            }
            all.add(bucket);
        }
        return new Buckets(unsigned, List.copyOf(all));
    }

    /** The same axis with at most {@code most} ranges, by joining neighbours. */
    public Buckets atMost(int most) {
        int together = (all.size() + most - 1) / Math.max(1, most);
        if (together <= 1) {
            return this;
        }
        List<Bucket> fewer = new ArrayList<>();
        for (int i = 0; i < all.size(); i += together) {
            int last = Math.min(i + together, all.size()) - 1;
            fewer.add(new Bucket(all.get(i).from(), all.get(last).to(), 0));
        }
        return new Buckets(unsigned, fewer);
    }

    /** The sums of a change for each range. */
    public long[] counts(Changes.Change change) {
        long[] counts = new long[all.size()];
        change.buckets().forEach((from, events) -> {
            int index = index(from);
            if (index >= 0) {
                counts[index] += events;
            }
        });
        return counts;
    }

    /** The index of the range that contains a value, or -1. */
    private int index(long value) {
        int low = 0;
        int high = all.size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (compare(value, all.get(middle).from()) < 0) {
                high = middle - 1;
            } else if (compare(value, all.get(middle).to()) > 0) {
                low = middle + 1;
            } else {
                return middle;
            }
        }
        return -1;
    }

    private int compare(long left, long right) {
        return unsigned ? Long.compareUnsigned(left, right) : Long.compare(left, right);
    }
}
