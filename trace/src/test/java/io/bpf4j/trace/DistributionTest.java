package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.bpf4j.trace.Distribution.Bucket;
import io.bpf4j.trace.Distribution.Scale;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class DistributionTest {
    @Test
    void theMeanIsThatOfTheSum() {
        assertThat(of(false, 4, -10, -7, 3).mean()).isEqualTo(-2.5);
        assertThat(of(true, 1, -1, -1, -1).mean()).isEqualTo(0x1p64);
        assertThat(of(true, 0, 0, 0, 0).mean()).isNaN();
    }

    /** 131,072 addresses on a stack have a sum of more than 64 bits. */
    @Test
    void aSumThatMayHaveOverflowedHasNoMean() {
        long address = 0x7fff_ffff_f000L;
        assertThat(of(true, 1 << 17, address << 17, address, address).mean()).isEqualTo((double) address);
        assertThat(of(true, 1 << 18, address << 18, address, address).mean()).isNaN();
        assertThat(of(false, 3, Long.MIN_VALUE /* three times that, modulo 2^64 */, Long.MIN_VALUE, Long.MIN_VALUE)
                        .mean())
                .isNaN();
    }

    /** The ranges of all buckets: those of a distribution of which each has one event. */
    private static List<Bucket> buckets(boolean unsigned) {
        long[] value = new long[Distribution.Sums.bytes(Scale.POWERS_OF_TWO) / Long.BYTES];
        Arrays.fill(value, 1);
        Distribution.Sums sums = new Distribution.Sums(Scale.POWERS_OF_TWO, unsigned);
        sums.add(value);
        return sums.toDistribution().buckets();
    }

    private static List<Bucket> empty(List<Bucket> buckets) {
        return buckets.stream()
                .map(bucket -> new Bucket(bucket.from(), bucket.to(), 0))
                .toList();
    }

    @Test
    void aDistributionWithoutEventsHasAllBuckets() {
        assertThat(Scale.POWERS_OF_TWO.withoutEvents(true).buckets())
                .isEqualTo(empty(buckets(true).subList(1, 253)));
        assertThat(Scale.POWERS_OF_TWO.withoutEvents(false).buckets())
                .isEqualTo(empty(buckets(false).subList(0, 249)));
        assertThat(new Scale(true, 0, 10, 2).withoutEvents(true).buckets())
                .containsExactly(new Bucket(0, 9, 0), new Bucket(10, 19, 0), new Bucket(20, -1, 0));
        assertThat(new Scale(true, -10, 10, 1).withoutEvents(false).buckets())
                .containsExactly(
                        new Bucket(Long.MIN_VALUE, -11, 0), new Bucket(-10, -1, 0), new Bucket(0, Long.MAX_VALUE, 0));
    }

    /** The values up to 2^63 - 1 are in the last bucket then, and none is above. */
    @Test
    void theLastLinearBucketEndsBelowTheLargestNumber() {
        long most = Long.MAX_VALUE;
        assertThat(Distribution.withoutEvents(false, most - 20, most, 10).buckets())
                .endsWith(new Bucket(most - 10, most - 1, 0), new Bucket(most, most, 0));
        assertThat(Distribution.withoutEvents(false, -(1L << 62), (1L << 62) - 1, 1L << 62)
                        .buckets())
                .hasSize(4);
        for (long step : List.of(1L << 62, 3L << 61, most)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Distribution.withoutEvents(false, 1, most, step))
                    .withMessageEndingWith("the last bucket does not end below 2^63 - 1, with a bucket above it");
        }
    }

    @Test
    void bucketsAreARangeEachWithoutGaps() {
        List<Bucket> all = buckets(true).subList(1, 253); // no unsigned number is negative
        assertThat(all.subList(0, 12))
                .extracting(Bucket::from)
                .containsExactly(0L, 1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 10L, 12L, 14L);
        for (int i = 1; i < all.size(); i++) {
            assertThat(all.get(i).from()).isEqualTo(all.get(i - 1).to() + 1);
        }
        assertThat(all.getLast()).isEqualTo(new Bucket(7L << 61, -1, 1));
        List<Bucket> signed = buckets(false);
        assertThat(signed.getFirst()).isEqualTo(new Bucket(Long.MIN_VALUE, -1, 1));
        assertThat(signed.get(248)).isEqualTo(new Bucket(7L << 60, Long.MAX_VALUE, 1));
    }

    /** A bound is not below the quantile, and at most 25 % above it; what is smaller than 8 is exact. */
    @Property
    void boundsOfQuantilesAreClose(
            @ForAll @Size(min = 1, max = 300) List<@From("valuesOfAllSizes") Long> values,
            @ForAll @IntRange(min = 1, max = 1000) int thousandths) {
        List<Bucket> ranges = buckets(true);
        List<Long> sorted = values.stream().sorted(Long::compareUnsigned).toList();
        long[] sums = new long[3 + ranges.size()];
        for (long value : sorted) {
            int bucket = 1;
            while (Long.compareUnsigned(ranges.get(bucket).to(), value) < 0) {
                bucket++;
            }
            sums[0] += value;
            sums[3 + bucket]++;
        }
        sums[1] = sorted.getLast();
        sums[2] = ~sorted.getFirst();
        Distribution.Sums all = new Distribution.Sums(Scale.POWERS_OF_TWO, true);
        all.add(sums);
        Distribution distribution = all.toDistribution();
        long quantile = sorted.get(Math.ceilDiv(thousandths * sorted.size(), 1000) - 1);
        long bound = distribution.quantile(thousandths / 1000.0);
        assertThat(Long.compareUnsigned(bound, quantile)).isNotNegative();
        assertThat(Long.compareUnsigned(bound - quantile, quantile >>> 2)).isNotPositive();
        assertThat(distribution.rows().stream().mapToLong(Bucket::count).sum()).isEqualTo(values.size());
        assertThat(distribution.rows())
                .allSatisfy(row -> assertThat(sorted.stream()
                                .filter(value -> Long.compareUnsigned(value, row.from()) >= 0
                                        && Long.compareUnsigned(value, row.to()) <= 0)
                                .count())
                        .isEqualTo(row.count()));
    }

    @Provide
    Arbitrary<Long> valuesOfAllSizes() {
        return Combinators.combine(Arbitraries.longs(), Arbitraries.integers().between(0, 63))
                .as((value, shift) -> value >>> shift);
    }

    /** 0.07 * 100 is more than 7 as a double. */
    @Test
    void theRankIsThatOfTheDecimalNumber() {
        List<Bucket> buckets = LongStream.range(0, 100)
                .mapToObj(value -> new Bucket(value, value, 1))
                .toList();
        assertThat(new Distribution(true, true, 100, 4950, 0, 99, buckets).quantile(0.07))
                .isEqualTo(6);
    }

    @Test
    void negativeQuantilesAreBoundedByTheMaximum() {
        Distribution all = new Distribution(false, false, 3, -30, -15, -7, List.of(new Bucket(Long.MIN_VALUE, -1, 3)));
        assertThat(all.quantile(0.5)).isEqualTo(-7);
        assertThat(all.rows()).isEqualTo(all.buckets());
    }

    /** Parts of the events, added up in two ways, are the events. */
    @Property
    void theSumOfPartsIsTheWhole(
            @ForAll @Size(max = 60) List<@From("valuesOfAllSizes") Long> values,
            @ForAll @Size(min = 60, max = 60) List<@IntRange(max = 2) Integer> parts,
            @ForAll @From("scales") Distribution all) {
        List<Distribution> three = IntStream.range(0, 3)
                .mapToObj(part -> counted(
                        all,
                        IntStream.range(0, values.size())
                                .filter(i -> parts.get(i) == part)
                                .mapToObj(values::get)
                                .toList()))
                .toList();
        Distribution whole = counted(all, values);
        assertThat(all.plus(three)).isEqualTo(whole);
        assertThat(all.plus(List.of(three.get(2), all.plus(three.subList(0, 2)))))
                .isEqualTo(whole);
        if (!values.isEmpty()) {
            assertThat(all.plus(three).quantile(0.9)).isEqualTo(whole.quantile(0.9));
        }
    }

    @Provide
    Arbitrary<Distribution> scales() {
        return Arbitraries.of(
                Distribution.withoutEvents(true),
                Distribution.withoutEvents(false),
                Distribution.withoutEvents(true, 0, 1000, 10),
                Distribution.withoutEvents(true, 10, 1 << 30, 1 << 21),
                Distribution.withoutEvents(false, -100, 100, 7));
    }

    /** A distribution of values, counted one by one. */
    private static Distribution counted(Distribution all, List<Long> values) {
        Comparator<Long> order = all.unsigned() ? Long::compareUnsigned : Long::compare;
        List<Bucket> buckets = new ArrayList<>();
        for (Bucket bucket : all.buckets()) {
            long events = values.stream()
                    .filter(value -> order.compare(value, bucket.from()) >= 0 && order.compare(value, bucket.to()) <= 0)
                    .count();
            buckets.add(new Bucket(bucket.from(), bucket.to(), events));
        }
        while (!buckets.isEmpty() && buckets.getLast().count() == 0) {
            buckets.removeLast();
        }
        while (!buckets.isEmpty() && buckets.getFirst().count() == 0) {
            buckets.removeFirst();
        }
        return new Distribution(
                all.unsigned(),
                all.linear(),
                values.size(),
                values.stream().mapToLong(Long::longValue).sum(),
                values.stream().min(order).orElse(0L),
                values.stream().max(order).orElse(0L),
                buckets);
    }

    @Test
    void onlyDistributionsWithTheSameBucketsAreAddedUp() {
        Distribution all = Distribution.withoutEvents(true);
        Distribution linear = Distribution.withoutEvents(true, 0, 100, 10);
        for (Distribution other : List.of(
                linear,
                Distribution.withoutEvents(false),
                new Distribution(true, false, 1, 9, 9, 9, List.of(new Bucket(8, 10, 1))),
                new Distribution(true, false, 1, 9, 9, 9, List.of(new Bucket(9, 9, 1))),
                new Distribution(true, false, 2, 9, 2, 7, List.of(new Bucket(7, 7, 1), new Bucket(2, 2, 1))))) {
            assertThatIllegalArgumentException().isThrownBy(() -> all.plus(List.of(other)));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> linear.plus(List.of(Distribution.withoutEvents(true, 0, 100, 20))));
        assertThatIllegalArgumentException().isThrownBy(() -> Distribution.withoutEvents(true, 0, 2000, 1));
        Distribution most =
                new Distribution(true, false, Long.MAX_VALUE, 0, 3, 3, List.of(new Bucket(3, 3, Long.MAX_VALUE)));
        assertThatExceptionOfType(ArithmeticException.class).isThrownBy(() -> all.plus(List.of(most, most)));
    }

    private static Distribution of(boolean unsigned, long count, long sum, long min, long max) {
        return new Distribution(unsigned, false, count, sum, min, max, List.of());
    }
}
