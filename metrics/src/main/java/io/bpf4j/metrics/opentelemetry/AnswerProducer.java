package io.bpf4j.metrics.opentelemetry;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.internal.AnswerSource;
import io.bpf4j.metrics.internal.BaseUnit;
import io.bpf4j.metrics.internal.Buckets;
import io.bpf4j.metrics.internal.Histogram;
import io.bpf4j.metrics.internal.Reading;
import io.bpf4j.metrics.internal.SeriesReader;
import io.bpf4j.metrics.opentelemetry.internal.CountedMetric;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Gap;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramBuckets;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramData;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramPointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.LongPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;

/**
 * An answer as metrics of the OpenTelemetry SDK, read when they are collected. <i>Thread-safe.</i> It does not close
 * the answer; when that is closed, the metrics vanish.
 *
 * <p>The API of OpenTelemetry records single values and accepts no histogram that is already counted. So this is a
 * {@link MetricProducer} of the SDK, and it has to be registered with the meter provider; views do not apply to it.
 *
 * <p>A question that counts is a monotonic sum with the unit {@code {event}}. One that distributes is a histogram in
 * {@code s}, {@code By} or {@code 1}. Beside it are the sums {@code NAME.gaps}, with the attribute {@code gap}, and
 * {@code NAME.folded_series}, and the gauge {@code NAME.exact}: see {@link
 * io.bpf4j.metrics.prometheus.AnswerCollector}, which has the same metrics. All sums are cumulative, from when this was
 * made.
 *
 * <p>A label is an attribute with the key's own type: a number, boolean or string. The series of the combinations for
 * which there was no room has no such attribute, but {@code otel.metric.overflow}, as the SDK's own metrics do. There
 * are no exemplars. A sum that may have exceeded 64 bits, or that has negative values, is NaN.
 */
@SuppressWarnings("exports") // a caller has the SDK
public final class AnswerProducer implements MetricProducer {
    private static final AttributeKey<Boolean> OVERFLOW = AttributeKey.booleanKey("otel.metric.overflow");
    private static final AttributeKey<String> GAP = AttributeKey.stringKey("gap");

    private final SeriesReader reader;
    private final AnswerMetric metric;
    private final boolean exponential;

    AnswerProducer(SeriesReader reader, AnswerMetric metric, boolean exponential) {
        this.reader = reader;
        this.metric = metric;
        this.exponential = exponential;
    }

    /**
     * A producer of histograms with explicit bounds: {@link AnswerMetric#withBounds}. The count of each bucket is
     * exact.
     *
     * @throws io.bpf4j.loader.error.UnknownNameException if a label is for a key that the question does not have
     * @throws IllegalArgumentException if two keys would have the same label, or the question only shows events
     */
    public static AnswerProducer explicit(Answer answer, AnswerMetric metric) {
        return new AnswerProducer(new SeriesReader(answer, metric), metric, false);
    }

    /**
     * A producer of histograms with exponential buckets of scale 2. A quantile that is computed from them is never too
     * low, and less than 49 % too high.
     *
     * @throws io.bpf4j.loader.error.UnknownNameException as {@link #explicit}
     * @throws IllegalArgumentException as {@link #explicit}
     */
    public static AnswerProducer exponential(Answer answer, AnswerMetric metric) {
        return new AnswerProducer(new SeriesReader(answer, metric), metric, true);
    }

    /** The metrics of the answer so far, and of its gaps. None if the answer is closed. */
    @Override
    public Collection<MetricData> produce(Resource resource) {
        return reader.read().map(reading -> metrics(resource, reading)).orElseGet(List::of);
    }

    /**
     * Keeps the events so far, as {@link io.bpf4j.metrics.prometheus.AnswerCollector#keep} does.
     *
     * @throws IllegalStateException as that method does
     */
    public void keep() {
        reader.keep();
    }

    /**
     * Continues with another answer to the same question, as {@link io.bpf4j.metrics.prometheus.AnswerCollector#goOn}
     * does.
     *
     * @throws IllegalStateException if the previous answer has not been kept
     * @throws IllegalArgumentException if the keys, the unit or the buckets differ from those of the previous answer
     */
    public void goOn(Answer next) {
        reader.goOn(AnswerSource.of(next));
    }

    /** The times of a point, in nanoseconds since 1970. */
    private record Times(long start, long now) {
        static Times of(SeriesReader reader) {
            return new Times(nanos(reader.created()), nanos(reader.now()));
        }

        private static long nanos(Instant time) {
            return time.getEpochSecond() * 1_000_000_000 + time.getNano();
        }
    }

    private List<MetricData> metrics(Resource resource, Reading reading) {
        Times times = Times.of(reader);
        Attributes constants = constants();
        List<LongPointData> gaps = new ArrayList<>();
        for (Gap gap : Gap.values()) {
            // The number of begins that are open now is not a sum.
            if (gap != Gap.STILL_OPEN) {
                Attributes ofGap = constants.toBuilder()
                        .put(GAP, gap.name().toLowerCase(Locale.ROOT))
                        .build();
                gaps.add(point(times, ofGap, reading.gaps().getOrDefault(gap, 0L)));
            }
        }
        return List.of(
                events(resource, reading, times),
                new CountedMetric(
                        resource,
                        metric.name() + ".gaps",
                        "Events that are missing or unpaired.",
                        "{event}",
                        MetricDataType.LONG_SUM,
                        sum(gaps)),
                new CountedMetric(
                        resource,
                        metric.name() + ".folded_series",
                        "Label sets that are added up under otel.metric.overflow.",
                        "{series}",
                        MetricDataType.LONG_SUM,
                        sum(List.of(point(times, constants, reading.folded())))),
                new CountedMetric(
                        resource,
                        metric.name() + ".exact",
                        "1 if no event is missing so far.",
                        "1",
                        MetricDataType.LONG_GAUGE,
                        GaugeData.createLongGaugeData(List.of(point(times, constants, reading.exact() ? 1 : 0)))));
    }

    private MetricData events(Resource resource, Reading reading, Times times) {
        Optional<Buckets> buckets = reader.buckets();
        if (buckets.isEmpty()) {
            List<LongPointData> points = reading.series().stream()
                    .map(series -> point(times, attributes(series), series.count()))
                    .toList();
            return events(resource, "{event}", MetricDataType.LONG_SUM, sum(points));
        }
        String unit = switch (reader.unit().kind()) {
            case BaseUnit.Kind.SECONDS -> "s";
            case BaseUnit.Kind.BYTES -> "By";
            case BaseUnit.Kind.NONE -> "1";
        };
        if (exponential) {
            return events(
                    resource,
                    unit,
                    MetricDataType.EXPONENTIAL_HISTOGRAM,
                    ExponentialHistogramData.create(
                            AggregationTemporality.CUMULATIVE,
                            points(
                                    reading,
                                    series -> series.histogram()
                                            .map(all -> exponential(all, times, attributes(series))))));
        }
        List<Double> bounds = buckets.get().bounds();
        return events(
                resource,
                unit,
                MetricDataType.HISTOGRAM,
                HistogramData.create(
                        AggregationTemporality.CUMULATIVE,
                        points(
                                reading,
                                series -> series.histogram()
                                        .map(all -> explicit(all, bounds, times, attributes(series))))));
    }

    private MetricData events(Resource resource, String unit, MetricDataType type, Data<?> data) {
        return new CountedMetric(resource, metric.name(), metric.help(), unit, type, data);
    }

    private static <T> List<T> points(Reading reading, Function<Reading.Series, Optional<T>> point) {
        return reading.series().stream()
                .flatMap(series -> point.apply(series).stream())
                .toList();
    }

    private static LongPointData point(Times times, Attributes attributes, long value) {
        return LongPointData.create(times.start(), times.now(), attributes, value);
    }

    private static SumData<LongPointData> sum(Collection<LongPointData> points) {
        return SumData.createLongSumData(true, AggregationTemporality.CUMULATIVE, points);
    }

    private static HistogramPointData explicit(Histogram all, List<Double> bounds, Times times, Attributes attributes) {
        List<Long> counts = Arrays.stream(all.fixed()).boxed().toList();
        return HistogramPointData.create(
                times.start(), times.now(), attributes, all.sum(), false, 0, false, 0, bounds, counts);
    }

    private static ExponentialHistogramPointData exponential(Histogram all, Times times, Attributes attributes) {
        Histogram.Exponential exponential = all.exponential();
        return ExponentialHistogramPointData.create(
                Buckets.SCALE,
                all.sum(),
                exponential.zero(),
                false,
                0,
                false,
                0,
                dense(exponential.positive()),
                dense(exponential.negative()),
                times.start(),
                times.now(),
                attributes,
                List.of());
    }

    /** With the empty buckets between. OpenTelemetry numbers buckets by their lower bound, which is not in them. */
    private static ExponentialHistogramBuckets dense(List<Histogram.Indexed> buckets) {
        if (buckets.isEmpty()) {
            return ExponentialHistogramBuckets.create(Buckets.SCALE, 0, List.of());
        }
        int first = buckets.getFirst().index();
        Long[] counts = new Long[buckets.getLast().index() - first + 1];
        Arrays.fill(counts, 0L);
        buckets.forEach(bucket -> counts[bucket.index() - first] = bucket.count());
        return ExponentialHistogramBuckets.create(Buckets.SCALE, first - 1, List.of(counts));
    }

    private Attributes constants() {
        AttributesBuilder attributes = Attributes.builder();
        metric.constants().forEach(attributes::put);
        return attributes.build();
    }

    private Attributes attributes(Reading.Series series) {
        AttributesBuilder attributes = constants().toBuilder();
        if (series.values().isEmpty()) {
            return attributes.put(OVERFLOW, true).build();
        }
        List<Object> values = series.values().get();
        for (int i = 0; i < values.size(); i++) {
            String name = reader.labels().get(i);
            switch (values.get(i)) {
                case Long number -> attributes.put(name, number);
                case Double number -> attributes.put(name, number);
                case Boolean truth -> attributes.put(name, truth);
                default -> attributes.put(name, values.get(i).toString());
            }
        }
        return attributes.build();
    }
}
