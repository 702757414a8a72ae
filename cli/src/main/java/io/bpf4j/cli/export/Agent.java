package io.bpf4j.cli.export;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.otlp.Pusher;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * The current questions of the agent, and their metrics. <i>Thread-safe</i>, but for {@link #ask} and {@link #close},
 * which one thread calls.
 *
 * <p>Tested by {@code AgentTest}.
 */
public final class Agent implements MultiCollector, Pusher.Source, AutoCloseable {
    private static final MetricMetadata RELOADED = QuestionMetrics.own(
            "config_last_reload_successful", "1 if the file was accepted when it was last read.", null);
    private static final MetricMetadata RELOAD_TIME = QuestionMetrics.own(
            "config_last_reload_success_timestamp_seconds", "When the file was last read and accepted.", Unit.SECONDS);

    /** Empty if the kernel is not asked to measure BPF programs. */
    private final Optional<ProgramStatistics> statistics;

    /** Empty if names of containers are not served. */
    private final Optional<ContainerNames> containers;

    private volatile State state = new State(Map.of(), false, null);

    /**
     * The state that a request sees.
     *
     * @param questions the questions by their lines, in the order of the file
     * @param taken whether the file was accepted when it was last read
     * @param since when a file was last accepted; null before the first
     */
    private record State(
            Map<ConfigLine, Exported> questions,
            boolean taken,
            @Nullable Instant since) {}

    /** Starts a question. */
    @FunctionalInterface
    public interface Starter {
        /**
         * Starts a question, and returns when it counts events.
         *
         * @return the agent's to close
         * @throws CancellationException if the agent is to end
         * @throws IOException or a {@link RuntimeException} if the question can't be started
         */
        Exported start(ConfigLine line) throws IOException;
    }

    /** An agent without questions; the kernel does not measure BPF programs. */
    public Agent() {
        this(Optional.empty(), Optional.empty());
    }

    /**
     * An agent without questions.
     *
     * @param statistics the caller's to close; empty if the kernel is not asked to measure BPF programs
     * @param containers empty if names of containers are not served
     */
    public Agent(Optional<ProgramStatistics> statistics, Optional<ContainerNames> containers) {
        this.statistics = statistics;
        this.containers = containers;
    }

    /**
     * Replaces the questions by these. A question that runs already is kept, also if it is suspended, unless it has
     * another problem. If one of the others can't be started, nothing changes.
     *
     * @return why questions can't be started; empty if all are running
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
                if (known != null && (known.problem().isEmpty() || known.isSuspended())) {
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
        // After the change, so that only a request from before it can see a question that ends.
        close(before.values().stream()
                .filter(question -> !now.containsValue(question))
                .toList());
        now.values().forEach(Exported::resume);
        return List.of();
    }

    /** Notes that the file was not accepted. */
    public void refused() {
        state = new State(state.questions(), false, state.since());
    }

    /** The current questions, by their names. */
    public Map<String, Exported> questions() {
        Map<String, Exported> questions = new LinkedHashMap<>();
        state.questions().forEach((line, question) -> questions.put(line.name(), question));
        return questions;
    }

    /** Whether all questions count, and why their answers may lack events. */
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
        if (statistics.isPresent() && !statistics.get().areOn()) {
            remarks.add(
                    "the kernel does not measure BPF programs any more, because kernel.bpf_stats_enabled was changed: their"
                            + " time and runs are unknown, and --max-cpu suspends nothing");
        }
        containers.ifPresent(names ->
                names.problems().forEach(problem -> remarks.add("names of containers may be missing: " + problem)));
        return new Health(problems, remarks);
    }

    @Override
    public MetricSnapshots collect() {
        State seen = state;
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        Map<String, Duration> reads = new HashMap<>();
        seen.questions().forEach((line, question) -> {
            long began = System.nanoTime();
            question.collect().forEach(all::metricSnapshot);
            reads.put(line.name(), Duration.ofNanos(System.nanoTime() - began));
        });
        own(seen, reads).forEach(all::metricSnapshot);
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
        return own(state, Map.of());
    }

    /** @param reads how long it took to read the answer of each question, by its name; may lack questions */
    private MetricSnapshots own(State seen, Map<String, Duration> reads) {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        Map<String, Exported> questions = new LinkedHashMap<>();
        seen.questions().forEach((line, question) -> questions.put(line.name(), question));
        QuestionMetrics.of(
                        questions,
                        reads,
                        statistics.map(ProgramStatistics::areOn).orElse(false))
                .forEach(all::metricSnapshot);
        containers.flatMap(ContainerNames::collect).ifPresent(all::metricSnapshot);
        ProcessMetrics.read().forEach(all::metricSnapshot);
        Instant since = seen.since();
        if (since != null) {
            all.metricSnapshot(
                    new GaugeSnapshot(RELOADED, List.of(QuestionMetrics.gauge(seen.taken() ? 1 : 0, Labels.EMPTY))));
            all.metricSnapshot(new GaugeSnapshot(
                    RELOAD_TIME, List.of(QuestionMetrics.gauge(since.toEpochMilli() / 1e3, Labels.EMPTY))));
        }
        return all.build();
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
