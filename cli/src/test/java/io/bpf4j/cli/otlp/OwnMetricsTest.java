package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import org.junit.jupiter.api.Test;

class OwnMetricsTest {
    private static final Instant SINCE = Instant.ofEpochSecond(1_000);

    @Test
    void countersAndGaugesKeepTheirNames() {
        MetricSnapshots snapshots = MetricSnapshots.of(
                new CounterSnapshot(
                        new MetricMetadata("bpf4j_otlp_pushes", "Pushes."),
                        List.of(new CounterDataPointSnapshot(3, Labels.EMPTY, null, 0))),
                new GaugeSnapshot(
                        new MetricMetadata("bpf4j_time_seconds", "A time.", Unit.SECONDS),
                        List.of(new GaugeDataPointSnapshot(1.5, Labels.of("question", "a"), null))));
        List<MetricData> metrics = OwnMetrics.of(snapshots, Resource.empty(), SINCE);
        MetricData counter = metrics.getFirst();
        assertThat(counter.getName()).isEqualTo("bpf4j_otlp_pushes");
        assertThat(counter.getDescription()).isEqualTo("Pushes.");
        assertThat(counter.getDoubleSumData().isMonotonic()).isTrue();
        assertThat(counter.getDoubleSumData().getAggregationTemporality()).isEqualTo(AggregationTemporality.CUMULATIVE);
        DoublePointData point =
                counter.getDoubleSumData().getPoints().iterator().next();
        assertThat(point.getValue()).isEqualTo(3);
        assertThat(point.getStartEpochNanos()).isEqualTo(1_000_000_000_000L);
        assertThat(point.getEpochNanos()).isGreaterThan(point.getStartEpochNanos());
        MetricData gauge = metrics.getLast();
        assertThat(gauge.getUnit()).isEqualTo("s");
        assertThat(gauge.getDoubleGaugeData().getPoints().iterator().next())
                .satisfies(found -> assertThat(found.getValue()).isEqualTo(1.5))
                .satisfies(found -> assertThat(found.getAttributes().get(AttributeKey.stringKey("question")))
                        .isEqualTo("a"));
    }

    /** The start was a day later than now is. */
    @Test
    void noTimeIsBeforeTheStartIfTheClockWasSetBack() {
        Instant since = Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.SECONDS);
        MetricSnapshots snapshots = MetricSnapshots.of(new CounterSnapshot(
                new MetricMetadata("bpf4j_otlp_pushes", "Pushes."),
                List.of(new CounterDataPointSnapshot(3, Labels.EMPTY, null, 0))));
        DoublePointData point = OwnMetrics.of(snapshots, Resource.empty(), since)
                .getFirst()
                .getDoubleSumData()
                .getPoints()
                .iterator()
                .next();
        assertThat(point.getStartEpochNanos()).isEqualTo(since.getEpochSecond() * 1_000_000_000);
        assertThat(point.getEpochNanos()).isEqualTo(point.getStartEpochNanos());
    }

    @Test
    void noOtherKindIsLeftOutSilently() {
        MetricSnapshots snapshots =
                MetricSnapshots.of(InfoSnapshot.builder().name("bpf4j_build").build());
        assertThatThrownBy(() -> OwnMetrics.of(snapshots, Resource.empty(), SINCE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bpf4j_build is neither a counter nor a gauge");
    }
}
