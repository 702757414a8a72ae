package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.POSTGRESQL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.PostgresServer;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import io.opentelemetry.proto.common.v1.AnyValue;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page's way to OpenTelemetry's semantic conventions leads to the attributes, units and bounds that these have. */
@Timeout(600) // for what hangs
class CliSemanticConventionsTest {
    private static final String DURATION = "db.client.operation.duration";

    /** Those that the convention advises for {@link #DURATION}, in seconds. */
    private static final List<Double> BOUNDS = List.of(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0);

    /** How many queries have a text that no other has, or hardly one. */
    private static final int OTHERS = 300;

    @TempDir
    private static Path folder;

    private static String page() throws IOException {
        return Files.readString(TargetProgram.testModule().resolve("../docs/fleet.md"));
    }

    /** The attribute of each key, by the table of the page. */
    private static Map<String, String> attributes() throws IOException {
        Map<String, String> attributes = new TreeMap<>();
        Matcher row = Pattern.compile("(?m)^\\| `(\\w+)` \\| `([a-z0-9._]+)=(\\w+)` \\|")
                .matcher(page());
        while (row.find()) {
            assertThat(row.group(3)).isEqualTo(row.group(1));
            attributes.put(row.group(1), row.group(2));
        }
        return attributes;
    }

    private static RunningTrace agent(Path config, OtlpReceiver receiver) throws IOException, InterruptedException {
        RunningTrace agent = new RunningTrace(
                "export", "--config", config.toString(), "--otlp", receiver.url(), "--otlp-every", "1s");
        agent.awaitMessage("bpf4j: pushing ");
        return agent;
    }

    private static Metric metric(OtlpReceiver receiver, String name) {
        return OtlpReceiver.metrics(receiver.taken().getLast()).stream()
                .filter(metric -> metric.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Map<String, AnyValue> values(List<KeyValue> attributes) {
        return attributes.stream()
                .collect(Collectors.toMap(KeyValue::getKey, KeyValue::getValue, (_, last) -> last, TreeMap::new));
    }

    private static AnyValue value(Map<String, AnyValue> attributes, String name) {
        return Objects.requireNonNull(attributes.get(name), name);
    }

    @Test
    @Requires({BPF, BPF_COOKIE, GCC, SDT_H})
    void eachKeyHasTheAttributeOfTheTable() throws IOException, InterruptedException {
        Map<String, String> attributes = attributes();
        assertThat(attributes)
                .containsEntry("pid", "process.pid")
                .containsEntry("container", "container.id")
                .containsEntry("pod", "k8s.pod.uid")
                .hasSize(6);
        List<String> labels = attributes.entrySet().stream()
                .map(entry -> "--label " + entry.getValue() + "=" + entry.getKey())
                .toList();
        AskedProgram asked = AskedProgram.in(folder);
        Path config = asked.config("values count FILE asked:value --by " + String.join(",", attributes.keySet()) + " "
                + String.join(" ", labels));
        try (OtlpReceiver receiver = new OtlpReceiver();
                RunningTrace agent = agent(config, receiver)) {
            asked.run("values", "10");
            agent.signal("TERM"); // after a last push
            assertThat(agent.await().exitCode()).isZero();
            Map<String, AnyValue> values =
                    values(metric(receiver, "values").getSum().getDataPoints(0).getAttributesList());
            assertThat(values).containsOnlyKeys(attributes.values());
            assertThat(value(values, "process.pid").getIntValue()).isPositive();
            assertThat(value(values, "process.real_user.id").hasIntValue()).isTrue();
            assertThat(value(values, "cpu.logical_number").hasIntValue()).isTrue();
            assertThat(value(values, "thread.name").getStringValue()).isEqualTo("asked");
            assertThat(value(values, "container.id").hasStringValue()).isTrue();
            assertThat(value(values, "k8s.pod.uid").hasStringValue()).isTrue();
        }
    }

    /** The lines of the page, but for the server. */
    private static String question(Path executable) throws IOException {
        Matcher block = Pattern.compile("(?ms)^```\n(" + Pattern.quote(DURATION) + " .*?)^```")
                .matcher(page());
        assertThat(block.find()).isTrue();
        String question = block.group(1);
        assertThat(question).contains(" -p unit=postgresql@15-main ");
        return question.replace("-p unit=postgresql@15-main", executable.toString());
    }

    @Test
    void theQuestionOfThePageHasNoMistake() throws IOException, InterruptedException {
        Path file = Files.writeString(
                folder.resolve("page.conf"), question(Path.of("/usr/lib/postgresql/15/bin/postgres")));
        assertThat(Cli.check("export", "--check", file.toString())).isEqualTo(file + ": 1 question, no mistake\n");
    }

    /** Some hundred queries with a text of their own are more than have series. */
    @Test
    @Requires({BPF, BPF_COOKIE, POSTGRESQL})
    void queriesOfPostgresqlAreOperationsOfADatabase() throws IOException, InterruptedException {
        Metric duration;
        Map<String, Double> last;
        try (PostgresServer server = PostgresServer.start();
                OtlpReceiver receiver = new OtlpReceiver()) {
            server.sql("select 1"); // the catalogs are read before the first query
            Path config = Files.writeString(folder.resolve("postgres.conf"), question(server.executable()));
            try (RunningTrace agent = agent(config, receiver)) {
                server.bench("select 6 * 7", "prepared", 100);
                server.sql("select pg_sleep(0.02)");
                assertThatThrownBy(() -> server.sql("select 1 / 0")).hasMessageContaining("division by zero");
                assertThat(receiver.next()).isNotEmpty(); // these have series now
                server.bench("\\set number random(1, 1000000000)\nselect :number", "simple", OTHERS);
                agent.signal("TERM");
                Commands.Result end = agent.await();
                assertThat(end.exitCode()).as(end.err()).isZero();
            }
            duration = metric(receiver, DURATION);
            last = receiver.values();
        }
        assertThat(duration.getUnit()).isEqualTo("s");
        assertThat(duration.hasHistogram()).isTrue();
        Map<String, HistogramDataPoint> points = new TreeMap<>();
        long overflow = 0;
        for (HistogramDataPoint point : duration.getHistogram().getDataPointsList()) {
            Map<String, AnyValue> attributes = values(point.getAttributesList());
            assertThat(attributes.remove("db.system.name")).hasToString(text("postgresql"));
            assertBounds(point);
            if (attributes.containsKey("otel.metric.overflow")) {
                assertThat(attributes).hasSize(1);
                overflow += point.getCount();
            } else {
                assertThat(attributes).containsOnlyKeys("db.query.text");
                points.put(attributes.values().iterator().next().getStringValue(), point);
            }
        }
        assertThat(points).hasSize(100);
        assertThat(points.keySet()).noneMatch(query -> query.contains("1 / 0"));
        assertThat(points.entrySet())
                .filteredOn(entry -> entry.getKey().startsWith("select 6 * 7"))
                .singleElement()
                .satisfies(entry -> assertThat(entry.getValue().getCount()).isEqualTo(100));
        HistogramDataPoint sleep = Objects.requireNonNull(points.get("select pg_sleep(0.02)"));
        assertThat(sleep.getCount()).isEqualTo(1);
        assertThat(sleep.getSum()).isGreaterThanOrEqualTo(0.02);
        long own =
                points.values().stream().mapToLong(HistogramDataPoint::getCount).sum();
        assertThat(own + overflow).isEqualTo(100 + 1 + OTHERS);
        assertThat(last)
                .containsEntry(DURATION + ".exact{db.system.name=postgresql}", 1.0)
                .containsEntry(DURATION + ".folded_series{db.system.name=postgresql}", (double) overflow);
    }

    private static String text(String value) {
        return AnyValue.newBuilder().setStringValue(value).build().toString();
    }

    private static void assertBounds(HistogramDataPoint point) {
        assertThat(point.getExplicitBoundsList()).hasSameSizeAs(BOUNDS);
        for (int i = 0; i < BOUNDS.size(); i++) {
            // The last nanosecond before the bound, at least.
            assertThat(point.getExplicitBounds(i) + 1e-9).isBetween(BOUNDS.get(i), BOUNDS.get(i) * 1.08);
        }
    }
}
