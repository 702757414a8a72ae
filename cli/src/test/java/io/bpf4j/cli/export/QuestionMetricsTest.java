package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.trace.RunningProgram.Usage;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class QuestionMetricsTest {
    private static final Exported ENDED = new FakeQuestion() {
        @Override
        public Optional<Usage> usage() {
            return Optional.empty();
        }

        @Override
        public Optional<String> problem() {
            return Optional.of("it has ended");
        }
    };

    private static List<String> samples(List<MetricSnapshot> metrics) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        PrometheusTextFormatWriter.create().write(text, new MetricSnapshots(metrics));
        return text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .toList();
    }

    @Test
    void aQuestionSaysWhatItIsAttachedTo() throws IOException {
        Map<String, Exported> questions = Map.of("a", new FakeQuestion(), "b", ENDED);
        Map<String, Duration> reads = Map.of("a", Duration.ofMillis(20), "b", Duration.ZERO);
        assertThat(samples(QuestionMetrics.of(questions, reads, true)))
                .containsExactlyInAnyOrder(
                        "bpf4j_question_up{question=\"a\"} 1.0",
                        "bpf4j_question_up{question=\"b\"} 0.0",
                        "bpf4j_question_suspended{question=\"a\"} 0.0",
                        "bpf4j_question_suspended{question=\"b\"} 0.0",
                        "bpf4j_question_attached_probes{question=\"a\"} 2.0",
                        "bpf4j_question_attached_sites{question=\"a\"} 3.0",
                        "bpf4j_question_processes{question=\"a\"} 4.0",
                        "bpf4j_question_read_duration_seconds{question=\"a\"} 0.02",
                        "bpf4j_question_read_duration_seconds{question=\"b\"} 0.0",
                        "bpf4j_question_program_run_seconds_total{question=\"a\"} 1.5",
                        "bpf4j_question_program_runs_total{question=\"a\"} 7.0");
    }

    /** 0 would look like a question that costs nothing. */
    @Test
    void whatIsNotMeasuredIsLeftOut() throws IOException {
        assertThat(samples(QuestionMetrics.of(Map.of("a", new FakeQuestion()), Map.of("a", Duration.ZERO), false)))
                .contains("bpf4j_question_attached_sites{question=\"a\"} 3.0")
                .noneMatch(line -> line.contains("program"));
    }

    @Test
    void theProcessSaysWhatItTakes() throws IOException {
        assertThat(samples(ProcessMetrics.read()).stream().map(line -> line.substring(0, line.indexOf(' '))))
                .containsExactlyInAnyOrder(
                        "process_cpu_seconds_total",
                        "process_start_time_seconds",
                        "process_resident_memory_bytes",
                        "process_virtual_memory_bytes",
                        "process_open_fds",
                        "process_max_fds",
                        "jvm_memory_used_bytes{area=\"heap\"}",
                        "jvm_memory_max_bytes{area=\"heap\"}");
        assertThat(samples(ProcessMetrics.read()))
                .allMatch(line -> Double.parseDouble(line.substring(line.indexOf(' '))) > 0);
    }
}
