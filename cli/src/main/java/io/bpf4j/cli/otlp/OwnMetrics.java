package io.bpf4j.cli.otlp;

import io.bpf4j.metrics.opentelemetry.internal.CountedMetric;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.Data;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.MetricDataType;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * The metrics of the agent itself, as OTLP has them. The names and labels are those of {@code /metrics}.
 *
 * <p>Tested by {@code OwnMetricsTest}.
 */
final class OwnMetrics {
    /** Units in the Unified Code for Units of Measure, as OpenTelemetry requires. */
    private static final Map<Unit, String> UNITS = Map.of(Unit.SECONDS, "s", Unit.BYTES, "By", Unit.RATIO, "1");

    private OwnMetrics() {}

    /**
     * The metrics of snapshots.
     *
     * @param since the start time of the counters
     * @throws IllegalArgumentException if one is neither a counter nor a gauge
     */
    static List<MetricData> of(MetricSnapshots snapshots, Resource resource, Instant since) {
        long start = nanos(since);
        // If the clock was set back, the time is still not before the start.
        long now = Math.max(start, nanos(Instant.now()));
        return snapshots.stream()
                .map(snapshot -> metric(snapshot, resource, start, now))
                .toList();
    }

    private static long nanos(Instant time) {
        return time.getEpochSecond() * 1_000_000_000 + time.getNano();
    }

    private static MetricData metric(MetricSnapshot snapshot, Resource resource, long start, long now) {
        return switch (snapshot) {
            case GaugeSnapshot gauge ->
                metric(
                        gauge,
                        resource,
                        MetricDataType.DOUBLE_GAUGE,
                        GaugeData.createDoubleGaugeData(gauge.getDataPoints().stream()
                                .map(point -> point(start, now, point.getLabels(), point.getValue()))
                                .toList()));
            case CounterSnapshot counter ->
                metric(
                        counter,
                        resource,
                        MetricDataType.DOUBLE_SUM,
                        SumData.createDoubleSumData(
                                true,
                                AggregationTemporality.CUMULATIVE,
                                counter.getDataPoints().stream()
                                        .map(point -> point(start, now, point.getLabels(), point.getValue()))
                                        .toList()));
            default ->
                throw new IllegalArgumentException(
                        snapshot.getMetadata().getName() + " is neither a counter nor a gauge");
        };
    }

    private static MetricData metric(MetricSnapshot snapshot, Resource resource, MetricDataType type, Data<?> data) {
        MetricMetadata metadata = snapshot.getMetadata();
        Unit unit = metadata.getUnit();
        String help = metadata.getHelp();
        return new CountedMetric(
                resource,
                metadata.getName(),
                help == null ? "" : help,
                unit == null ? "" : UNITS.getOrDefault(unit, unit.toString()),
                type,
                data);
    }

    private static DoublePointData point(long start, long now, Labels labels, double value) {
        AttributesBuilder attributes = Attributes.builder();
        for (Label label : labels) {
            attributes.put(label.getName(), label.getValue());
        }
        return DoublePointData.create(start, now, attributes.build(), value, List.of());
    }
}
