package io.bpf4j.metrics.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.internal.SampleAnswer;
import io.bpf4j.metrics.internal.SeriesReader;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramPointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class AnswerProducerTest {
    private static MetricProducer producer(SampleAnswer answer, AnswerMetric metric, boolean exponential) {
        return new AnswerProducer(
                new SeriesReader(answer, metric, _ -> true, () -> 0, Clock.systemUTC()), metric, exponential);
    }

    private static Map<String, MetricData> collect(MetricProducer producer) {
        return producer.produce(Resource.empty()).stream()
                .collect(Collectors.toMap(MetricData::getName, Function.identity()));
    }

    private static MetricData metric(MetricProducer producer, String name) {
        Map<String, MetricData> all = collect(producer);
        assertThat(all).containsKey(name);
        return all.getOrDefault(name, all.values().iterator().next());
    }

    @Test
    void aCountIsACumulativeSumWithTypedAttributes() {
        SampleAnswer answer = SampleAnswer.counting("pid", "comm", "hit");
        answer.add(0, 4711L, "java", true);
        MetricData events = metric(
                producer(answer, AnswerMetric.named("shop.orders").withLabel("pid", "process.pid"), false),
                "shop.orders");
        assertThat(events.getType()).isEqualTo(MetricDataType.LONG_SUM);
        assertThat(events.getUnit()).isEqualTo("{event}");
        assertThat(events.getLongSumData().isMonotonic()).isTrue();
        LongPointData point = events.getLongSumData().getPoints().iterator().next();
        assertThat(point.getValue()).isEqualTo(1);
        assertThat(point.getAttributes())
                .isEqualTo(Attributes.builder()
                        .put("process.pid", 4711)
                        .put("comm", "java")
                        .put("hit", true)
                        .build());
        assertThat(point.getEpochNanos()).isGreaterThanOrEqualTo(point.getStartEpochNanos());
    }

    @Test
    void explicitBucketsAreExact() {
        SampleAnswer answer = SampleAnswer.distributing("ns");
        List.of(1_000_000L, 3_000_000L, 2_000_000_000L).forEach(answer::add);
        MetricData pauses = metric(
                producer(answer, AnswerMetric.named("jvm.gc.pause").withBounds(0.001, 1), false), "jvm.gc.pause");
        assertThat(pauses.getUnit()).isEqualTo("s");
        HistogramPointData point =
                pauses.getHistogramData().getPoints().iterator().next();
        assertThat(point.getBoundaries()).containsExactly(0.001048575, 1.073741823);
        assertThat(point.getCounts()).containsExactly(1L, 1L, 1L);
        assertThat(point.getCount()).isEqualTo(3);
        assertThat(point.getSum()).isEqualTo(2.004);
    }

    @Test
    void exponentialBucketsContainTheirValues() {
        SampleAnswer answer = SampleAnswer.distributing("s");
        List.of(0L, 1L, 2L, 3L, 3L).forEach(answer::add);
        ExponentialHistogramPointData point = metric(producer(answer, AnswerMetric.named("m"), true), "m")
                .getExponentialHistogramData()
                .getPoints()
                .iterator()
                .next();
        assertThat(point.getScale()).isEqualTo(2);
        assertThat(point.getZeroCount()).isEqualTo(1);
        assertThat(point.getCount()).isEqualTo(5);
        assertThat(point.getPositiveBuckets().getOffset())
                .as("1 is the upper bound of the bucket with the lower bound 2^(-1/4)")
                .isEqualTo(-1);
        assertThat(point.getPositiveBuckets().getBucketCounts()).containsExactly(1L, 0L, 0L, 0L, 1L, 0L, 0L, 2L);
        assertThat(point.getNegativeBuckets().getBucketCounts()).isEmpty();
    }

    @Test
    void whatIsTooMuchHasTheAttributeOfTheSdk() {
        SampleAnswer answer = SampleAnswer.counting("query");
        for (int i = 0; i < 100; i++) {
            answer.add(0, "select " + i);
        }
        AnswerMetric metric =
                AnswerMetric.named("queries").withMaxSeries(10).withConstant("db.system.name", "postgresql");
        Map<String, MetricData> all = collect(producer(answer, metric, false));
        assertThat(all).containsOnlyKeys("queries", "queries.gaps", "queries.folded_series", "queries.exact");
        MetricData queries = metric(producer(answer, metric, false), "queries");
        assertThat(queries.getLongSumData().getPoints())
                .hasSize(11)
                .filteredOn(point -> point.getAttributes()
                        .equals(Attributes.builder()
                                .put("db.system.name", "postgresql")
                                .put("otel.metric.overflow", true)
                                .build()))
                .singleElement()
                .extracting(LongPointData::getValue)
                .isEqualTo(90L);
    }

    /** A receiver takes an earlier start, or a time before the start, for a restart or nonsense. */
    @Test
    void aClockThatJumpsMovesNoStart() {
        SampleAnswer answer = SampleAnswer.counting();
        Instant start = Instant.parse("2026-11-29T12:00:00Z");
        Instant[] clock = {start};
        AnswerMetric metric = AnswerMetric.named("m");
        MetricProducer producer =
                new AnswerProducer(new SeriesReader(answer, metric, _ -> true, () -> 0, () -> clock[0]), metric, false);
        long events = 0;
        for (Duration jump : List.of(Duration.ofDays(400), Duration.ofDays(-800), Duration.ofSeconds(10))) {
            clock[0] = clock[0].plus(jump);
            answer.add(0);
            events++;
            LongPointData point = metric(producer, "m")
                    .getLongSumData()
                    .getPoints()
                    .iterator()
                    .next();
            assertThat(point.getValue()).isEqualTo(events);
            assertThat(point.getStartEpochNanos()).isEqualTo(start.getEpochSecond() * 1_000_000_000);
            assertThat(point.getEpochNanos())
                    .isEqualTo(Math.max(start.getEpochSecond(), clock[0].getEpochSecond()) * 1_000_000_000);
        }
    }

    @Test
    void aMeterProviderTakesItAndAClosedAnswerHasNothing() {
        SampleAnswer answer = SampleAnswer.counting();
        answer.add(0);
        KeptMetrics reader = new KeptMetrics();
        try (SdkMeterProvider _ = SdkMeterProvider.builder()
                .registerMetricProducer(producer(answer, AnswerMetric.named("m"), false))
                .registerMetricReader(reader)
                .build()) {
            assertThat(reader.collect()).extracting(MetricData::getName).contains("m", "m.exact");
            answer.close();
            assertThat(reader.collect()).isEmpty();
        }
    }
}
