package io.bpf4j.metrics.prometheus;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.internal.AnswerSource;
import io.bpf4j.metrics.internal.Buckets;
import io.bpf4j.metrics.internal.Histogram;
import io.bpf4j.metrics.internal.LabelText;
import io.bpf4j.metrics.internal.Reading;
import io.bpf4j.metrics.internal.SeriesReader;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Gap;
import io.prometheus.metrics.model.registry.MetricType;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Label;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.NativeHistogramBuckets;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * An answer as a metric of the Prometheus client, read when it is scraped. <i>Thread-safe.</i> It does not close the
 * answer; when that is closed, the metric vanishes.
 *
 * <p>A question that counts is the counter {@code NAME_total}. One that distributes is the histogram {@code
 * NAME_seconds}, {@code NAME_bytes} or {@code NAME}, with classic and with native buckets: Prometheus gets the native
 * ones if it scrapes by protobuf. Beside it are:
 *
 * <ul>
 *   <li>{@code NAME_gaps_total} with the label {@code gap}, a kind of {@link Gap} in lower case: events that the answer
 *   lacks, or begins and ends without a partner;
 *   <li>{@code NAME_folded_series_total}: combinations of label values that were added to {@code other};
 *   <li>{@code NAME_exact}: 1 if the answer has all events so far, else 0.
 * </ul>
 *
 * <p>All series count from the creation of this collector, which is their created timestamp: create it right after the
 * answer. A program that asks again creates another answer and another collector, whose counts begin at 0, and
 * Prometheus sees the restart; or it keeps the collector, which {@linkplain #goOn continues}. There are no exemplars:
 * an answer has sums, and no single event with a trace.
 *
 * <p>Numbers are doubles, as the client has them. Counts up to 2^53 are exact; a sum is rounded once, by at most 2^-53 of
 * itself. A sum that may have exceeded 64 bits, or that has negative values, is left out.
 */
@SuppressWarnings("exports") // a caller has the client
public final class AnswerCollector implements MultiCollector {
    private static final String GAP = "gap";

    private final SeriesReader reader;
    private final MetricMetadata events;
    private final MetricMetadata gaps;
    private final MetricMetadata folded;
    private final MetricMetadata exact;
    private final Labels constants;

    /** The labels that come from keys. */
    private final List<String> labels;

    /**
     * A collector that starts now, with the events that the answer has already.
     *
     * @throws io.bpf4j.loader.error.UnknownNameException if a label is for a key that the question does not have
     * @throws IllegalArgumentException if two keys would have the same label, or the question only shows events
     */
    public AnswerCollector(Answer answer, AnswerMetric metric) {
        this(new SeriesReader(answer, metric), metric);
    }

    AnswerCollector(SeriesReader reader, AnswerMetric metric) {
        this.reader = reader;
        @Nullable
        Unit unit = switch (reader.unit().kind()) {
            case SECONDS -> Unit.SECONDS;
            case BYTES -> Unit.BYTES;
            case NONE -> null;
        };
        String ending = unit == null ? "" : "_" + unit;
        String base = without(without(metric.name().replace('.', '_'), "_total"), ending);
        this.events = new MetricMetadata(base + ending, metric.help(), unit);
        this.gaps = new MetricMetadata(base + "_gaps", "Events that are missing or unpaired.");
        this.folded = new MetricMetadata(base + "_folded_series", "Label sets that are added up as 'other'.");
        this.exact = new MetricMetadata(base + "_exact", "1 if no event is missing so far.");
        this.labels =
                reader.labels().stream().map(name -> name.replace('.', '_')).toList();
        Labels all = Labels.EMPTY;
        for (Map.Entry<String, String> constant : metric.constants().entrySet()) {
            all = all.add(constant.getKey().replace('.', '_'), constant.getValue());
        }
        this.constants = all;
    }

    private static String without(String name, String ending) {
        return name.endsWith(ending) ? name.substring(0, name.length() - ending.length()) : name;
    }

    /** The metrics of the answer so far, and of its gaps. None if the answer is closed. */
    @Override
    public MetricSnapshots collect() {
        return reader.read().map(this::snapshots).orElseGet(MetricSnapshots::of);
    }

    /**
     * Keeps the events so far, so that the answer may be closed and its question asked again later. Until {@link #goOn}
     * the metric has only these. From now on {@code NAME_exact} is 0, because events of the time in between are
     * missing. Call it when the answer is detached, before it is closed. A second call does nothing.
     *
     * <p>131,072 combinations of keys are kept. The events of further ones are added to the series {@code other}, and
     * {@code NAME_folded_series} counts them; those that have a series already are kept before the others.
     *
     * @throws IllegalStateException if the answer is closed; nothing has changed then
     */
    public void keep() {
        reader.keep();
    }

    /**
     * Continues with another answer to the same question, whose events are added to those that were kept. So no count
     * decreases, and the series continue.
     *
     * @throws IllegalStateException if the previous answer has not been kept
     * @throws IllegalArgumentException if the keys, the unit or the buckets differ from those of the previous answer
     */
    public void goOn(Answer next) {
        reader.goOn(AnswerSource.of(next));
    }

    /** The names and labels by which the client refuses a second collector of the same metric. */
    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        List<String> always = constants.stream().map(Label::getName).toList();
        MetricType type = reader.buckets().isPresent() ? MetricType.HISTOGRAM : MetricType.COUNTER;
        return List.of(
                MetricFamilyDescriptor.of(type, events, with(always, labels)),
                MetricFamilyDescriptor.of(MetricType.COUNTER, gaps, with(always, List.of(GAP))),
                MetricFamilyDescriptor.of(MetricType.COUNTER, folded, always),
                MetricFamilyDescriptor.of(MetricType.GAUGE, exact, always));
    }

    private static List<String> with(List<String> names, List<String> more) {
        return Stream.concat(names.stream(), more.stream()).toList();
    }

    private MetricSnapshots snapshots(Reading reading) {
        long created = reader.created().toEpochMilli();
        return MetricSnapshots.of(
                events(reading, created),
                gaps(reading, created),
                new CounterSnapshot(
                        folded, List.of(new CounterDataPointSnapshot(reading.folded(), constants, null, created))),
                new GaugeSnapshot(
                        exact, List.of(new GaugeDataPointSnapshot(reading.exact() ? 1 : 0, constants, null))));
    }

    private MetricSnapshot gaps(Reading reading, long created) {
        List<CounterDataPointSnapshot> points = new ArrayList<>();
        for (Gap gap : Gap.values()) {
            // The number of begins that are open now is not a counter.
            if (gap != Gap.STILL_OPEN) {
                points.add(new CounterDataPointSnapshot(
                        reading.gaps().getOrDefault(gap, 0L),
                        constants.add(GAP, gap.name().toLowerCase(Locale.ROOT)),
                        null,
                        created));
            }
        }
        return new CounterSnapshot(gaps, points);
    }

    private MetricSnapshot events(Reading reading, long created) {
        Optional<Buckets> buckets = reader.buckets();
        if (buckets.isEmpty()) {
            return new CounterSnapshot(
                    events,
                    reading.series().stream()
                            .map(series ->
                                    new CounterDataPointSnapshot(series.count(), labelsOf(series), null, created))
                            .toList());
        }
        double[] bounds = Stream.concat(buckets.get().bounds().stream(), Stream.of(Double.POSITIVE_INFINITY))
                .mapToDouble(Double::doubleValue)
                .toArray();
        List<HistogramDataPointSnapshot> points = new ArrayList<>();
        for (Reading.Series series : reading.series()) {
            series.histogram().ifPresent(all -> points.add(point(all, bounds, labelsOf(series), created)));
        }
        return new HistogramSnapshot(events, points);
    }

    private static HistogramDataPointSnapshot point(Histogram all, double[] bounds, Labels labels, long created) {
        Histogram.Exponential exponential = all.exponential();
        return new HistogramDataPointSnapshot(
                ClassicHistogramBuckets.of(bounds, all.fixed()),
                Buckets.SCALE,
                exponential.zero(),
                0,
                buckets(exponential.positive()),
                buckets(exponential.negative()),
                all.sum(),
                labels,
                Exemplars.EMPTY,
                created);
    }

    private static NativeHistogramBuckets buckets(List<Histogram.Indexed> buckets) {
        NativeHistogramBuckets.Builder builder = NativeHistogramBuckets.builder();
        buckets.forEach(bucket -> builder.bucket(bucket.index(), bucket.count()));
        return builder.build();
    }

    private Labels labelsOf(Reading.Series series) {
        List<String> values = series.values()
                .map(own -> own.stream().map(String::valueOf).toList())
                .orElseGet(() -> labels.stream().map(_ -> LabelText.OTHER).toList());
        return constants.merge(Labels.of(labels, values));
    }
}
