package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.otlp.Pusher;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The questions that are asked now, and their metrics. <i>Thread-safe</i>, but for {@link #ask} and {@link #close}, which
 * one thread calls.
 *
 * <p>Tested by {@code AgentTest}.
 */
public final class Agent implements MultiCollector, Pusher.Source, AutoCloseable {
    private static final MetricMetadata UP =
            own("question_up", "1 if the question is attached and counts, 0 if it does so no more.", null);
    private static final MetricMetadata RELOADED =
            own("config_last_reload_successful", "1 if the file was taken when it was last read.", null);
    private static final MetricMetadata RELOAD_TIME =
            own("config_last_reload_success_timestamp_seconds", "When the file was last read and taken.", Unit.SECONDS);

    private volatile State state = new State(Map.of(), false, null);

    /**
     * What readers see, at one time.
     *
     * @param questions by their lines, in the order of the file
     * @param taken whether the last file was taken
     * @param since when a file was last taken; null before the first
     */
    private record State(
            Map<ConfigLine, Exported> questions,
            boolean taken,
            @Nullable Instant since) {}

    /** Asks a question. */
    @FunctionalInterface
    public interface Starter {
        /**
         * Returns when the question counts.
         *
         * @return the agent's to close
         * @throws CancellationException if the agent is to end
         * @throws IOException or a {@link RuntimeException} if it can't be asked
         */
        Exported start(ConfigLine line) throws IOException;
    }

    private static MetricMetadata own(String name, String help, @Nullable Unit unit) {
        return new MetricMetadata(MetricNames.OWN + name, help, unit);
    }

    /**
     * Asks these questions instead of those before. Those that are asked already go on, unless they have a problem. If one of
     * the others can't be asked, nothing changes.
     *
     * @return why questions can't be asked; empty if all are
     * @throws CancellationException if a start was cancelled; nothing has changed
     */
    public List<Mistake> ask(List<ConfigLine> lines, Starter starter) {
        Map<ConfigLine, Exported> before = state.questions();
        Map<ConfigLine, Exported> now = new LinkedHashMap<>();
        List<Exported> started = new ArrayList<>();
        List<Mistake> mistakes = new ArrayList<>();
        try {
            for (ConfigLine line : lines) {
                Exported known = before.get(line);
                if (known != null && known.problem().isEmpty()) {
                    now.put(line, known);
                    continue;
                }
                try {
                    Exported question = starter.start(line);
                    started.add(question);
                    now.put(line, question);
                } catch (CancellationException e) {
                    throw e;
                } catch (IOException | RuntimeException e) {
                    mistakes.add(new Mistake(line.number(), line.name() + ": " + ErrorText.of(e)));
                }
            }
        } catch (CancellationException e) {
            close(started);
            throw e;
        }
        if (!mistakes.isEmpty()) {
            close(started);
            refused();
            return mistakes;
        }
        state = new State(now, true, Instant.now());
        // After the change: only a reader who came before it may see a question that ends.
        close(before.values().stream()
                .filter(question -> !now.containsValue(question))
                .toList());
        return List.of();
    }

    /** Notes that the file was not taken. */
    public void refused() {
        state = new State(state.questions(), false, state.since());
    }

    /** Whether all questions count, and what they lack. */
    public Health health() {
        State seen = state;
        if (seen.since() == null) {
            return new Health(List.of("the questions are not attached yet"), List.of());
        }
        List<String> problems = new ArrayList<>();
        List<String> remarks = new ArrayList<>();
        seen.questions().forEach((line, question) -> {
            Optional<String> problem = question.problem();
            problem.ifPresent(why -> problems.add(line.name() + ": " + why));
            if (problem.isEmpty()) {
                question.gaps().forEach(gap -> remarks.add(line.name() + ": not exact: " + gap));
            }
        });
        return new Health(problems, remarks);
    }

    @Override
    public MetricSnapshots collect() {
        State seen = state;
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        seen.questions().values().forEach(question -> question.collect().forEach(all::metricSnapshot));
        own(seen).forEach(all::metricSnapshot);
        return all.build();
    }

    @Override
    public Collection<MetricData> questions(Resource resource, boolean exponential) {
        return state.questions().values().stream()
                .flatMap(question -> question.produce(resource, exponential).stream())
                .toList();
    }

    @Override
    public MetricSnapshots own() {
        return own(state);
    }

    private static MetricSnapshots own(State seen) {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        List<GaugeDataPointSnapshot> up = new ArrayList<>();
        seen.questions().forEach((line, question) -> {
            up.add(gauge(question.problem().isEmpty() ? 1 : 0, Labels.of("question", line.name())));
        });
        all.metricSnapshot(new GaugeSnapshot(UP, up));
        Instant since = seen.since();
        if (since != null) {
            all.metricSnapshot(new GaugeSnapshot(RELOADED, List.of(gauge(seen.taken() ? 1 : 0, Labels.EMPTY))));
            all.metricSnapshot(
                    new GaugeSnapshot(RELOAD_TIME, List.of(gauge(since.toEpochMilli() / 1e3, Labels.EMPTY))));
        }
        return all.build();
    }

    private static GaugeDataPointSnapshot gauge(double value, Labels labels) {
        return new GaugeDataPointSnapshot(value, labels, null);
    }

    private static void close(Collection<Exported> questions) {
        questions.forEach(Exported::stop);
        questions.forEach(Exported::close);
    }

    /** Ends all questions. */
    @Override
    public void close() {
        Collection<Exported> last = state.questions().values();
        state = new State(Map.of(), false, null);
        close(last);
    }
}
