package io.bpf4j.metrics.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.bpf4j.metrics.AnswerMetric;
import java.math.BigDecimal;
import java.time.Clock;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BucketsTest {
    /** As many of each size. */
    @Provide
    static Arbitrary<Long> times() {
        return Arbitraries.integers()
                .between(0, 50)
                .flatMap(bits -> Arbitraries.longs().between((1L << bits) - 1, (2L << bits) - 1));
    }

    @Provide
    static Arbitrary<Double> numbers() {
        return times().map(time -> (time + 1) / 1e9);
    }

    private static Histogram histogram(SampleAnswer answer, double... bounds) {
        AnswerMetric metric = AnswerMetric.named("m");
        SeriesReader reader = new SeriesReader(
                answer, bounds.length == 0 ? metric : metric.withBounds(bounds), _ -> true, () -> 0, Clock.systemUTC());
        return reader.read().orElseThrow().series().getFirst().histogram().orElseThrow();
    }

    private static SampleAnswer ofNanoseconds(List<Long> times) {
        SampleAnswer answer = SampleAnswer.distributing("ns");
        times.forEach(answer::add);
        return answer;
    }

    @Property(tries = 300)
    void theCountOfABoundIsThatOfTheValuesUpToIt(
            @ForAll @Size(min = 1, max = 40) List<@From("times") Long> times, @ForAll @From("numbers") double asked) {
        Histogram histogram = histogram(ofNanoseconds(times), asked);
        double bound = histogram.buckets().bounds().getFirst();
        assertThat(bound).isBetween(asked * (1 - 1e-12) - 1e-9, asked * 1.25);
        assertThat(histogram.fixed())
                .containsExactly(
                        times.stream().filter(time -> time / 1e9 <= bound).count(),
                        times.stream().filter(time -> time / 1e9 > bound).count());
        assertThat(histogram.count()).isEqualTo(times.size());
        assertThat(histogram.sum())
                .as("rounded once: a sum of more than 53 bits is rounded a second time when it becomes a double first")
                .isEqualTo(BigDecimal.valueOf(
                                times.stream().mapToLong(Long::longValue).sum(), 9)
                        .doubleValue());
    }

    /** At a quantile of the values, the exponential buckets have a bound that is not below it, and less than 49 % above. */
    @Property(tries = 300)
    void aQuantileOfExponentialBucketsIsNeitherTooLowNorMuchTooHigh(
            @ForAll @Size(min = 1, max = 40) List<@From("times") Long> times,
            @ForAll @DoubleRange(min = 0.01, max = 1) double share) {
        Histogram.Exponential exponential = histogram(ofNanoseconds(times)).exponential();
        long rank = Math.max(1, (long) Math.ceil(share * times.size()));
        double quantile = times.stream().sorted().skip(rank - 1).findFirst().orElseThrow() / 1e9;
        long seen = exponential.zero();
        double bound = 0;
        for (Histogram.Indexed bucket : exponential.positive()) {
            if (seen >= rank) {
                break;
            }
            seen += bucket.count();
            bound = Math.pow(2, bucket.index() / 4.0);
        }
        assertThat(seen).isGreaterThanOrEqualTo(rank);
        assertThat(bound).isBetween(quantile * (1 - 1e-12), quantile * 1.25 * Math.pow(2, 0.25));
        assertThat(exponential.negative()).isEmpty();
        assertThat(exponential.positive().stream()
                        .mapToLong(Histogram.Indexed::count)
                        .sum())
                .isEqualTo(times.size() - exponential.zero());
    }

    /** An exporter that is asked twice may not find a smaller number in any bucket. */
    @Property(tries = 100)
    void noBucketLosesAnEvent(
            @ForAll @Size(min = 1, max = 20) List<@From("times") Long> times, @ForAll @From("times") long more) {
        SampleAnswer answer = ofNanoseconds(times);
        Histogram before = histogram(answer);
        answer.add(more);
        Histogram after = histogram(answer);
        for (int i = 0; i < before.fixed().length; i++) {
            assertThat(after.fixed()[i]).isGreaterThanOrEqualTo(before.fixed()[i]);
        }
        for (Histogram.Indexed bucket : before.exponential().positive()) {
            assertThat(after.exponential().positive())
                    .anyMatch(now -> now.index() == bucket.index() && now.count() >= bucket.count());
        }
        assertThat(after.sum()).isGreaterThanOrEqualTo(before.sum());
    }

    @Property
    void anExponentialBucketHasItsUpperBound(@ForAll @From("numbers") double value) {
        int index = Buckets.index(value);
        assertThat(value)
                .isBetween(Math.pow(2, (index - 1) / 4.0) * (1 - 1e-15), Math.pow(2, index / 4.0) * (1 + 1e-15));
    }

    @Test
    void powersOfTwoAreUpperBounds() {
        assertThat(Buckets.index(1)).isZero();
        assertThat(Buckets.index(2)).isEqualTo(4);
        assertThat(Buckets.index(0.5)).isEqualTo(-4);
        assertThat(Buckets.index(Math.nextUp(1.0))).isEqualTo(1);
        assertThat(Buckets.index(1.9)).isEqualTo(4);
    }

    @Test
    void theUsualBoundsGoFromAMicrosecondToSeventeenSeconds() {
        List<Double> bounds = histogram(ofNanoseconds(List.of(1L))).buckets().bounds();
        assertThat(bounds).hasSize(13).startsWith(1.023e-6, 4.095e-6).endsWith(17.179869183);
        SampleAnswer micros = SampleAnswer.distributing("us");
        micros.add(5);
        assertThat(histogram(micros).buckets().bounds())
                .hasSize(13)
                .startsWith(0.0, 3e-6)
                .endsWith(16.777215);
        SampleAnswer bytes = SampleAnswer.distributing("bytes");
        bytes.add(5);
        assertThat(histogram(bytes).buckets().bounds())
                .hasSize(13)
                .startsWith(15.0, 63.0)
                .endsWith((1 << 28) - 1.0);
    }

    @Test
    void linearBucketsAreTheBounds() {
        SampleAnswer answer = SampleAnswer.linear();
        for (long value : new long[] {-5, 0, 9, 10, 99, 100, 1_000}) {
            answer.add(value);
        }
        Histogram histogram = histogram(answer);
        assertThat(histogram.buckets().bounds())
                .containsExactly(-1.0, 9.0, 19.0, 29.0, 39.0, 49.0, 59.0, 69.0, 79.0, 89.0, 99.0);
        assertThat(histogram.fixed()).containsExactly(1, 2, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2);
        assertThat(histogram.sum()).as("it may become less").isNaN();
        assertThat(histogram.exponential().negative()).containsExactly(new Histogram.Indexed(0, 1));
        assertThat(histogram.exponential().zero()).isZero();
    }

    @Test
    void boundsInTheSameBucketAreOne() {
        assertThat(histogram(ofNanoseconds(List.of(1L)), 1, 1.01, 1e12)
                        .buckets()
                        .bounds())
                .as("the last is beyond 64 bits")
                .containsExactly(1.073741823);
    }

    @Test
    void aSumBeyond64BitsIsNotGiven() {
        Histogram histogram = histogram(ofNanoseconds(List.of(-1L, -1L)));
        assertThat(histogram.sum()).isNaN();
        assertThat(histogram.count()).isEqualTo(2);
        assertThat(Arrays.stream(histogram.fixed()).sum()).isEqualTo(2);
    }

    @Test
    void theUnitsAreSecondsAndBytes() {
        SampleAnswer millis = SampleAnswer.distributing("ms");
        millis.add(1_500);
        assertThat(histogram(millis).sum()).isEqualTo(1.5, within(0.0));
        SampleAnswer unknown = SampleAnswer.distributing("");
        unknown.add(1_500);
        assertThat(histogram(unknown).sum()).isEqualTo(1_500, within(0.0));
    }
}
