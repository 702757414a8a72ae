package io.bpf4j.metrics.prometheus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.internal.SampleAnswer;
import io.bpf4j.metrics.internal.SeriesReader;
import io.bpf4j.trace.Gap;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class AnswerCollectorTest {
    private static AnswerCollector collector(SampleAnswer answer, AnswerMetric metric) {
        return new AnswerCollector(new SeriesReader(answer, metric, _ -> true, () -> 0, Clock.systemUTC()), metric);
    }

    private static List<String> text(AnswerCollector collector) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.create().write(text, collector.collect());
        return text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void aCounterHasItsEndingOnce() throws IOException {
        SampleAnswer answer = SampleAnswer.counting("comm");
        answer.add(0, "a\"b\n\\");
        for (String name : List.of("shop.orders", "shop_orders", "shop_orders_total")) {
            assertThat(text(collector(answer, AnswerMetric.named(name).withConstant("host", "h1"))))
                    .contains("shop_orders_total{comm=\"a\\\"b\\n\\\\\",host=\"h1\"} 1.0")
                    .contains("shop_orders_exact{host=\"h1\"} 1.0")
                    .contains("shop_orders_folded_series_total{host=\"h1\"} 0.0")
                    .contains("shop_orders_gaps_total{gap=\"unreadable\",host=\"h1\"} 0.0")
                    .noneMatch(line -> line.contains("still_open"));
        }
    }

    /** The created timestamp of a counter says whether it was set back. */
    @Test
    void aClockThatJumpsMovesNoCreatedTimestamp() throws IOException {
        SampleAnswer answer = SampleAnswer.counting();
        Instant[] clock = {Instant.ofEpochSecond(1_800_000_000)};
        AnswerMetric metric = AnswerMetric.named("m");
        AnswerCollector collector =
                new AnswerCollector(new SeriesReader(answer, metric, _ -> true, () -> 0, () -> clock[0]), metric);
        for (long day : new long[] {400, -800, 0}) {
            clock[0] = Instant.ofEpochSecond(1_800_000_000).plus(Duration.ofDays(day));
            answer.add(0);
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            OpenMetricsTextFormatWriter.builder()
                    .setCreatedTimestampsEnabled(true)
                    .build()
                    .write(text, collector.collect());
            assertThat(text.toString(StandardCharsets.UTF_8).lines())
                    .contains("m_created 1800000000.000")
                    .filteredOn(line -> line.contains("_created "))
                    .allMatch(line -> line.endsWith(" 1800000000.000"));
        }
        assertThat(text(collector)).contains("m_total 3.0");
    }

    @Test
    void aHistogramIsInSecondsWithCumulativeCounts() throws IOException {
        SampleAnswer answer = SampleAnswer.distributing("ns", "begin.full");
        answer.add(1_000_000, true);
        answer.add(3_000_000, true);
        answer.add(2_000_000_000, true);
        for (String name : List.of("jvm.gc.pause", "jvm_gc_pause_seconds")) {
            assertThat(text(collector(
                            answer,
                            AnswerMetric.named(name)
                                    .withLabel("begin.full", "full")
                                    .withBounds(0.001, 0.1, 1))))
                    .endsWith(
                            "jvm_gc_pause_seconds_bucket{full=\"true\",le=\"0.001048575\"} 1",
                            "jvm_gc_pause_seconds_bucket{full=\"true\",le=\"0.100663295\"} 2",
                            "jvm_gc_pause_seconds_bucket{full=\"true\",le=\"1.073741823\"} 2",
                            "jvm_gc_pause_seconds_bucket{full=\"true\",le=\"+Inf\"} 3",
                            "jvm_gc_pause_seconds_count{full=\"true\"} 3",
                            "jvm_gc_pause_seconds_sum{full=\"true\"} 2.004");
        }
    }

    @Test
    void whatIsTooMuchIsOther() throws IOException {
        SampleAnswer answer = SampleAnswer.counting("query", "db");
        for (int i = 0; i < 1_000; i++) {
            answer.add(0, "select " + i, "shop");
        }
        assertThat(text(collector(answer, AnswerMetric.named("queries").withMaxSeries(10))))
                .contains("queries_total{db=\"other\",query=\"other\"} 990.0")
                .contains("queries_folded_series_total 990.0")
                .filteredOn(line -> line.startsWith("queries_total"))
                .hasSize(11);
    }

    /** The client refuses to write metrics of which two series have the same labels. */
    @Test
    void aProcessThatIsNamedOtherHidesNothing() throws IOException {
        SampleAnswer answer = SampleAnswer.counting("comm");
        answer.add(0, "first");
        AnswerCollector collector = collector(answer, AnswerMetric.named("m").withMaxSeries(2));
        answer.add(0, "other");
        assertThat(text(collector)).contains("m_total{comm=\"other\"} 1.0", "m_folded_series_total 0.0");
        answer.add(0, "second");
        answer.add(0, "third");
        answer.add(0, "third");
        assertThat(text(collector))
                .filteredOn(line -> line.startsWith("m_total"))
                .containsExactlyInAnyOrder(
                        "m_total{comm=\"first\"} 1.0", "m_total{comm=\"third\"} 2.0", "m_total{comm=\"other\"} 2.0");
    }

    @Test
    void gapsAreCounted() throws IOException {
        SampleAnswer answer = SampleAnswer.counting();
        answer.lose(Gap.NO_ROOM_FOR_KEY, 3);
        answer.lose(Gap.STILL_OPEN, 4);
        assertThat(text(collector(answer, AnswerMetric.named("m"))))
                .contains("m_total 0.0", "m_gaps_total{gap=\"no_room_for_key\"} 3.0", "m_exact 0.0")
                .noneMatch(line -> line.contains("still_open"));
    }

    @Test
    void nativeAndClassicBucketsHaveTheSameEvents() {
        SampleAnswer answer = SampleAnswer.distributing("bytes");
        for (int size = 0; size < 5_000; size++) {
            answer.add(size);
        }
        HistogramSnapshot histogram = (HistogramSnapshot)
                collector(answer, AnswerMetric.named("m")).collect().get(0);
        assertThat(histogram.getMetadata().getName()).isEqualTo("m_bytes");
        HistogramDataPointSnapshot point = histogram.getDataPoints().getFirst();
        assertThat(point.getCount()).isEqualTo(5_000);
        assertThat(point.getNativeSchema()).isEqualTo(2);
        assertThat(point.getNativeZeroCount()).isEqualTo(1);
        long inNative = 1;
        for (int i = 0; i < point.getNativeBucketsForPositiveValues().size(); i++) {
            inNative += point.getNativeBucketsForPositiveValues().getCount(i);
        }
        assertThat(inNative).isEqualTo(5_000);
        assertThat(point.getCreatedTimestampMillis()).isPositive();
    }

    @Test
    void theRegistryRefusesTheSameMetricTwice() {
        PrometheusRegistry registry = new PrometheusRegistry();
        registry.register(collector(SampleAnswer.counting("comm"), AnswerMetric.named("m")));
        assertThatThrownBy(() -> registry.register(collector(SampleAnswer.counting("comm"), AnswerMetric.named("m"))))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(registry.scrape().stream().map(each -> each.getMetadata().getName()))
                .containsExactlyInAnyOrder("m", "m_gaps", "m_folded_series", "m_exact");
    }

    @Test
    void theMetricsOfAClosedAnswerVanish() throws IOException {
        SampleAnswer answer = SampleAnswer.counting();
        AnswerCollector collector = collector(answer, AnswerMetric.named("m"));
        assertThat(text(collector)).isNotEmpty();
        answer.close();
        assertThat(text(collector)).isEmpty();
    }

    @Test
    void openMetricsHasTheUnit() throws IOException {
        SampleAnswer answer = SampleAnswer.distributing("us");
        answer.add(1_500);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        OpenMetricsTextFormatWriter.create()
                .write(
                        text,
                        collector(answer, AnswerMetric.named("m").withHelp("A help."))
                                .collect());
        assertThat(text.toString(StandardCharsets.UTF_8).lines())
                .contains("# TYPE m_seconds histogram", "# UNIT m_seconds seconds", "# HELP m_seconds A help.")
                .contains("m_seconds_sum 0.0015")
                .endsWith("# EOF");
    }
}
