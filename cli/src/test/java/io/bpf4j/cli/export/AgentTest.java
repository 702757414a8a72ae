package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AgentTest {
    private final List<String> events = new ArrayList<>();

    /** A question that counts one event each time that it is read. */
    private final class Fake extends FakeQuestion {
        private final String name;
        private Optional<String> problem = Optional.empty();
        private int count;

        Fake(String name) {
            this.name = name;
        }

        @Override
        public MetricSnapshots collect() {
            return MetricSnapshots.of(CounterSnapshot.builder()
                    .name(name)
                    .dataPoint(CounterDataPointSnapshot.builder().value(++count).build())
                    .build());
        }

        @Override
        public Optional<String> problem() {
            return super.problem().or(() -> problem);
        }

        @Override
        public List<String> gaps() {
            return name.equals("c") ? List.of("first events may be missing") : List.of();
        }

        @Override
        public void resume() {
            if (isSuspended()) {
                events.add("resume " + name);
                super.resume();
            }
        }

        @Override
        public void stop() {
            events.add("stop " + name);
        }

        @Override
        public void close() {
            events.add("close " + name);
        }
    }

    private final Map<String, Fake> started = new HashMap<>();

    private Exported start(ConfigLine line) {
        if (line.words().contains("wrong")) {
            throw new CommandException("no such probe");
        }
        if (line.words().contains("late")) {
            throw new CancellationException();
        }
        events.add("start " + line.name());
        Fake question = new Fake(line.name());
        started.put(line.name(), question);
        return question;
    }

    private static List<ConfigLine> lines(String... lines) {
        List<ConfigLine> all = new ArrayList<>();
        for (String line : lines) {
            all.add(new ConfigLine(all.size() + 1, List.of(line.split(" "))));
        }
        return all;
    }

    private static List<String> values(Agent agent) {
        return agent.collect().stream()
                .flatMap(metric -> metric instanceof CounterSnapshot counter
                        ? counter.getDataPoints().stream()
                                .map(point -> metric.getMetadata().getName() + " " + point.getValue())
                        : metric instanceof GaugeSnapshot gauge
                                        && !metric.getMetadata().getName().endsWith("timestamp_seconds")
                                ? gauge.getDataPoints().stream()
                                        .map(point -> metric.getMetadata().getName() + point.getLabels() + " "
                                                + point.getValue())
                                : Stream.of())
                .toList();
    }

    @Test
    void aLineThatHasNotChangedGoesOn() {
        try (Agent agent = new Agent()) {
            assertThat(agent.health().problems()).containsExactly("the questions are not attached yet");
            assertThat(agent.ask(lines("a x", "b x", "c x"), this::start)).isEmpty();
            assertThat(agent.health().problems()).isEmpty();
            assertThat(agent.health().remarks()).containsExactly("c: not exact: first events may be missing");
            assertThat(values(agent)).contains("a 1.0", "b 1.0", "c 1.0");
            events.clear();
            assertThat(agent.ask(lines("d x", "b y", "a x"), this::start)).isEmpty();
            assertThat(events)
                    .startsWith("start d", "start b")
                    .containsExactlyInAnyOrder("start d", "start b", "stop b", "stop c", "close b", "close c");
            assertThat(values(agent))
                    .contains("a 2.0", "b 1.0", "d 1.0")
                    .contains("bpf4j_question_up{question=\"d\"} 1.0", "bpf4j_config_last_reload_successful{} 1.0");
            events.clear();
        }
        assertThat(events).containsExactlyInAnyOrder("stop a", "stop b", "stop d", "close a", "close b", "close d");
    }

    @Test
    void ifOneCanNotBeAskedAllStaysAsItWas() {
        try (Agent agent = new Agent()) {
            assertThat(agent.ask(lines("a x"), this::start)).isEmpty();
            events.clear();
            assertThat(agent.ask(lines("b x", "c wrong", "d wrong"), this::start))
                    .containsExactly(new Mistake(2, "c: no such probe"), new Mistake(3, "d: no such probe"));
            assertThat(events).containsExactly("start b", "stop b", "close b");
            assertThat(agent.health().problems()).isEmpty();
            assertThat(values(agent)).contains("a 1.0", "bpf4j_config_last_reload_successful{} 0.0");
        }
    }

    @Test
    void whatWasStartedIsClosedIfTheAgentIsToEnd() {
        try (Agent agent = new Agent()) {
            assertThatThrownBy(() -> agent.ask(lines("a x", "b late"), this::start))
                    .isInstanceOf(CancellationException.class);
            assertThat(events).containsExactly("start a", "stop a", "close a");
        }
    }

    @Test
    void aQuestionThatHasEndedIsAskedAgain() {
        try (Agent agent = new Agent()) {
            assertThat(agent.ask(lines("a x", "b x"), this::start)).isEmpty();
            Fake first = started.get("a");
            assertThat(first).isNotNull();
            if (first != null) {
                first.problem = Optional.of("the process has ended");
            }
            assertThat(agent.health().problems()).containsExactly("a: the process has ended");
            assertThat(values(agent))
                    .contains("bpf4j_question_up{question=\"a\"} 0.0", "bpf4j_question_up{question=\"b\"} 1.0");
            events.clear();
            assertThat(agent.ask(lines("a x", "b x"), this::start)).isEmpty();
            assertThat(events).containsExactly("start a", "stop a", "close a");
            assertThat(agent.health().problems()).isEmpty();
        }
    }

    /** Its counts go on: no other question takes its place. */
    @Test
    void aSuspendedQuestionGoesOnIfTheFileIsTaken() {
        try (Agent agent = new Agent()) {
            assertThat(agent.ask(lines("a x", "b x"), this::start)).isEmpty();
            agent.questions().forEach((name, question) -> {
                if (name.equals("a")) {
                    question.suspend("suspended: too expensive");
                }
            });
            events.clear();
            assertThat(agent.health().problems()).containsExactly("a: suspended: too expensive");
            assertThat(values(agent))
                    .contains("bpf4j_question_up{question=\"a\"} 0.0", "bpf4j_question_suspended{question=\"a\"} 1.0");
            assertThat(agent.ask(lines("a x", "c wrong"), this::start)).hasSize(1);
            assertThat(events).as("the file was not taken").isEmpty();
            assertThat(agent.ask(lines("a x", "b x"), this::start)).isEmpty();
            assertThat(events).containsExactly("resume a");
            assertThat(values(agent)).contains("a 2.0", "bpf4j_question_up{question=\"a\"} 1.0");
        }
    }
}
