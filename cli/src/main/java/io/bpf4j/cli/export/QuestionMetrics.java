package io.bpf4j.cli.export;

import io.bpf4j.trace.RunningProgram.Usage;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The metrics of each question besides its answer: what it is attached to, and what it costs. <i>Immutable.</i>
 *
 * <p>Tested by {@code QuestionMetricsTest}.
 */
final class QuestionMetrics {
    static final MetricMetadata UP =
            own("question_up", "1 if the question is attached and counts, 0 if it no longer does.", null);
    private static final MetricMetadata SUSPENDED =
            own("question_suspended", "1 if the question is suspended, because it used too much processor time.", null);
    private static final MetricMetadata PROBES =
            own("question_attached_probes", "Probes and functions that the question is attached to.", null);
    private static final MetricMetadata SITES =
            own("question_attached_sites", "Sites in files that the question is attached to.", null);
    private static final MetricMetadata PROCESSES = own(
            "question_processes",
            "Processes that the question follows; absent if it counts all processes that run a file.",
            null);
    private static final MetricMetadata READ =
            own("question_read_duration_seconds", "Time to read the answer for this scrape.", Unit.SECONDS);
    private static final MetricMetadata TIME = own(
            "question_program_run_seconds",
            "Time in the question's BPF programs, without the kernel's path to them.",
            Unit.SECONDS);
    private static final MetricMetadata RUNS =
            own("question_program_runs", "Runs of the question's BPF programs.", null);

    private final List<GaugeDataPointSnapshot> up = new ArrayList<>();
    private final List<GaugeDataPointSnapshot> suspended = new ArrayList<>();
    private final List<GaugeDataPointSnapshot> probes = new ArrayList<>();
    private final List<GaugeDataPointSnapshot> sites = new ArrayList<>();
    private final List<GaugeDataPointSnapshot> processes = new ArrayList<>();
    private final List<GaugeDataPointSnapshot> reads = new ArrayList<>();
    private final List<CounterDataPointSnapshot> times = new ArrayList<>();
    private final List<CounterDataPointSnapshot> runs = new ArrayList<>();

    private QuestionMetrics() {}

    static MetricMetadata own(String name, String help, @Nullable Unit unit) {
        return new MetricMetadata(MetricNames.OWN + name, help, unit);
    }

    /**
     * The metrics of questions.
     *
     * @param questions by their names
     * @param reads how long it took to read the answer of each, by its name; empty for a push
     * @param measured whether the kernel measures BPF programs; if not, there is neither their time nor their runs, since
     *     0 would look like a question that costs nothing
     */
    static List<MetricSnapshot> of(Map<String, Exported> questions, Map<String, Duration> reads, boolean measured) {
        QuestionMetrics all = new QuestionMetrics();
        questions.forEach((name, question) ->
                all.add(question, Labels.of("question", name), Optional.ofNullable(reads.get(name)), measured));
        return all.snapshots();
    }

    private void add(Exported question, Labels labels, Optional<Duration> read, boolean measured) {
        up.add(gauge(question.problem().isEmpty() ? 1 : 0, labels));
        suspended.add(gauge(question.isSuspended() ? 1 : 0, labels));
        read.ifPresent(time -> reads.add(gauge(time.toNanos() / 1e9, labels)));
        question.usage().ifPresent(usage -> add(usage, labels, measured));
    }

    private void add(Usage usage, Labels labels, boolean measured) {
        probes.add(gauge(usage.probes(), labels));
        sites.add(gauge(usage.sites(), labels));
        usage.processes().ifPresent(number -> processes.add(gauge(number, labels)));
        if (measured) {
            times.add(new CounterDataPointSnapshot(usage.runTime().toNanos() / 1e9, labels, null, 0));
            runs.add(new CounterDataPointSnapshot(usage.runs(), labels, null, 0));
        }
    }

    private List<MetricSnapshot> snapshots() {
        List<MetricSnapshot> all = new ArrayList<>();
        add(all, UP, up);
        add(all, SUSPENDED, suspended);
        add(all, PROBES, probes);
        add(all, SITES, sites);
        add(all, PROCESSES, processes);
        add(all, READ, reads);
        if (!times.isEmpty()) {
            all.add(new CounterSnapshot(TIME, times));
            all.add(new CounterSnapshot(RUNS, runs));
        }
        return all;
    }

    private static void add(List<MetricSnapshot> all, MetricMetadata metric, List<GaugeDataPointSnapshot> points) {
        if (!points.isEmpty()) {
            all.add(new GaugeSnapshot(metric, points));
        }
    }

    static GaugeDataPointSnapshot gauge(double value, Labels labels) {
        return new GaugeDataPointSnapshot(value, labels, null);
    }
}
