package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.PROMTOOL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.opentelemetry.AnswerProducer;
import io.bpf4j.metrics.prometheus.AnswerCollector;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramPointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus and OpenTelemetry get of answers to questions about a program whose events are known. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class MetricsOnKernelTest {
    private static final List<String> COLOURS = List.of("red", "green", "blue");
    private static final int EVENTS = 300;

    /** A line of a sample: name, labels, value. */
    private static final Pattern SAMPLE = Pattern.compile("(\\w+(?:\\{.*\\})?) (\\S+)");

    @TempDir
    Path folder;

    private static Question asked(String probe) throws IOException {
        return Question.on(UsdtScan.ofFile(CPrograms.asked()).matching(probe));
    }

    private static void run(String... arguments) throws IOException, InterruptedException {
        Commands.check(LongStream.rangeClosed(0, arguments.length)
                .mapToObj(i -> i == 0 ? CPrograms.asked().toString() : arguments[(int) i - 1])
                .toList());
    }

    private static String scrape(AnswerCollector collector, ExpositionFormatWriter writer) throws IOException {
        PrometheusRegistry registry = new PrometheusRegistry();
        registry.register(collector);
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        writer.write(text, registry.scrape());
        return text.toString(StandardCharsets.UTF_8);
    }

    private static String scrape(AnswerCollector collector) throws IOException {
        return scrape(collector, PrometheusTextFormatWriter.create());
    }

    /** The samples by name and labels. */
    private static Map<String, Double> samples(String text) {
        Map<String, Double> samples = new LinkedHashMap<>();
        text.lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            assertThat(sample.matches()).as(line).isTrue();
            assertThat(samples.put(sample.group(1), Double.parseDouble(sample.group(2))))
                    .as(line)
                    .isNull();
        });
        return samples;
    }

    /** The values of {@code size} of those events with the colour: {@code asked.c} has the rule. */
    private static LongStream sizes(String colour) {
        return LongStream.range(0, EVENTS)
                .filter(i -> COLOURS.get((int) (i % 3)).equals(colour))
                .map(i -> 1L << (i % 40));
    }

    @Test
    void aHistogramHasTheValuesOfTheProgram() throws IOException, InterruptedException {
        AnswerMetric metric = AnswerMetric.named("asked.size")
                .withHelp("Sizes of values.")
                .withLabel("str(arg1, 8)", "colour")
                .withConstant("program", "asked");
        try (Answer answer =
                asked("asked:value").histogram("arg2").by("str(arg1, 8)").open()) {
            run("values", String.valueOf(EVENTS));
            AnswerCollector collector = new AnswerCollector(answer, metric);
            for (ExpositionFormatWriter writer :
                    List.of(PrometheusTextFormatWriter.create(), OpenMetricsTextFormatWriter.create())) {
                Map<String, Double> samples = samples(scrape(collector, writer));
                for (String colour : COLOURS) {
                    String labels = "{colour=\"" + colour + "\",program=\"asked\"";
                    assertThat(samples)
                            .containsEntry("asked_size_count" + labels + "}", (double)
                                    sizes(colour).count())
                            .containsEntry("asked_size_sum" + labels + "}", (double)
                                    sizes(colour).sum());
                    String bucket = "asked_size_bucket" + labels + ",le=\"";
                    List<String> bounds = samples.keySet().stream()
                            .filter(name -> name.startsWith(bucket))
                            .map(name -> name.substring(bucket.length(), name.length() - 2))
                            .toList();
                    assertThat(bounds).hasSize(14).endsWith("+Inf");
                    for (String bound : bounds) {
                        double le = bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound);
                        assertThat(samples).containsEntry(bucket + bound + "\"}", (double)
                                sizes(colour).filter(size -> size <= le).count());
                    }
                }
                assertThat(samples).containsEntry("asked_size_exact{program=\"asked\"}", 1.0);
            }
            HistogramSnapshot histogram = (HistogramSnapshot) collector.collect().stream()
                    .filter(each -> each.getMetadata().getName().equals("asked_size"))
                    .findFirst()
                    .orElseThrow();
            for (HistogramDataPointSnapshot point : histogram.getDataPoints()) {
                assertThat(point.getNativeZeroCount()
                                + point.getNativeBucketsForPositiveValues().stream()
                                        .mapToLong(bucket -> bucket.getCount())
                                        .sum())
                        .as("native and classic buckets")
                        .isEqualTo(point.getClassicBuckets().stream()
                                .mapToLong(bucket -> bucket.getCount())
                                .sum())
                        .isEqualTo(EVENTS / 3);
            }
            assertThat(openTelemetry(AnswerProducer.explicit(answer, metric), "asked.size")
                            .getHistogramData()
                            .getPoints())
                    .hasSize(3)
                    .allSatisfy(point -> assertThat(point.getCount()).isEqualTo(EVENTS / 3))
                    .extracting(HistogramPointData::getSum)
                    .containsExactlyInAnyOrderElementsOf(COLOURS.stream()
                            .map(colour -> (double) sizes(colour).sum())
                            .toList());
            assertThat(openTelemetry(AnswerProducer.exponential(answer, metric), "asked.size")
                            .getExponentialHistogramData()
                            .getPoints())
                    .hasSize(3)
                    .allSatisfy(point -> assertThat(point.getCount()).isEqualTo(EVENTS / 3))
                    .extracting(ExponentialHistogramPointData::getSum)
                    .containsExactlyInAnyOrderElementsOf(COLOURS.stream()
                            .map(colour -> (double) sizes(colour).sum())
                            .toList());
        }
    }

    /** From -30 to 29. A sum of these may become less, so there is none. */
    @Test
    void aHistogramOfSignedValuesHasTheNegativeOnes() throws IOException, InterruptedException {
        try (Answer answer = asked("asked:value").histogram("arg3").open()) {
            run("values", "60");
            Map<String, Double> samples = samples(scrape(
                    new AnswerCollector(answer, AnswerMetric.named("signed").withBounds(-1, 0, 7, 20, 1e6))));
            assertThat(samples)
                    .containsEntry("signed_bucket{le=\"-1.0\"}", 30.0)
                    .containsEntry("signed_bucket{le=\"0.0\"}", 31.0)
                    .containsEntry("signed_bucket{le=\"7.0\"}", 38.0)
                    .containsEntry("signed_bucket{le=\"23.0\"}", 54.0)
                    .containsEntry("signed_bucket{le=\"1048575.0\"}", 60.0)
                    .containsEntry("signed_bucket{le=\"+Inf\"}", 60.0)
                    .containsEntry("signed_count", 60.0)
                    .doesNotContainKey("signed_sum");
        }
    }

    private static MetricData openTelemetry(AnswerProducer producer, String name) {
        return producer.produce(Resource.empty()).stream()
                .filter(metric -> metric.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** All kinds of metrics in one text. */
    @Test
    void promtoolFindsNothingToSay() throws IOException, InterruptedException {
        Requirement.insistOn(List.of(PROMTOOL));
        try (Answer times =
                        asked("asked:*").latency("begin", "end").by("str(arg1)").open();
                Answer counts = asked("asked:value").by("str(arg1)").open()) {
            run("pairs", "20", "1000");
            run("values", "30");
            PrometheusRegistry registry = new PrometheusRegistry();
            registry.register(new AnswerCollector(
                    times, AnswerMetric.named("asked.pairs").withHelp("Times.").withLabel("str(arg1)", "what")));
            registry.register(new AnswerCollector(
                    counts, AnswerMetric.named("asked.values").withHelp("Values.")));
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            PrometheusTextFormatWriter.create().write(text, registry.scrape());
            Map<String, Double> samples = samples(text.toString(StandardCharsets.UTF_8));
            assertThat(samples).containsEntry("asked_pairs_seconds_count{what=\"red\"}", 7.0);
            assertThat(samples.get("asked_pairs_seconds_sum{what=\"red\"}")).isGreaterThanOrEqualTo(0.007);
            assertThat(samples)
                    .containsEntry("asked_pairs_gaps_total{gap=\"unpaired_ends\"}", 1.0)
                    .containsEntry("asked_values_total{str_arg1=\"red\"}", 10.0);
            Path scraped = Files.write(folder.resolve("metrics"), text.toByteArray());
            Commands.Result result =
                    Commands.run(new ProcessBuilder("promtool", "check", "metrics").redirectInput(scraped.toFile()));
            assertThat(result).isEqualTo(new Commands.Result(0, "", ""));
        }
    }

    @Test
    void anExplosionOfLabelValuesIsBoundedAndItsSumStaysRight() throws IOException, InterruptedException {
        AnswerMetric metric = AnswerMetric.named("fast").withLabel("arg0", "i").withMaxSeries(100);
        try (Answer answer = asked("asked:fast").by("arg0").open()) {
            AnswerCollector collector = new AnswerCollector(answer, metric);
            for (int round = 1; round <= 2; round++) {
                run("fast", "1", "5000");
                Map<String, Double> samples = samples(scrape(collector));
                assertThat(samples.keySet())
                        .filteredOn(name -> name.startsWith("fast_total"))
                        .hasSize(101);
                assertThat(samples)
                        .containsEntry("fast_total{i=\"other\"}", 4900.0 * round)
                        .containsEntry("fast_folded_series_total", 4900.0)
                        .containsEntry("fast_exact", 1.0);
                assertThat(sum(samples, "fast_total")).isEqualTo(5000.0 * round);
            }
        }
        try (Answer answer = asked("asked:fast").by("arg0").withMaxKeys(500).open()) {
            AnswerCollector collector = new AnswerCollector(answer, metric);
            run("fast", "1", "5000");
            Map<String, Double> samples = samples(scrape(collector));
            double full = samples.getOrDefault("fast_gaps_total{gap=\"no_room_for_key\"}", 0.0);
            assertThat(full).isPositive().isEqualTo((double) answer.gaps().getOrDefault(Gap.NO_ROOM_FOR_KEY, 0L));
            assertThat(sum(samples, "fast_total") + full).isEqualTo(5000);
            assertThat(samples).containsEntry("fast_exact", 0.0);
        }
    }

    private static double sum(Map<String, Double> samples, String name) {
        return samples.entrySet().stream()
                .filter(sample -> sample.getKey().startsWith(name))
                .mapToDouble(Map.Entry::getValue)
                .sum();
    }

    @Test
    void theSeriesOfAnEndedProcessVanishes() throws IOException, InterruptedException {
        AnswerMetric metric = AnswerMetric.named("values");
        try (Answer answer = asked("asked:value").by("pid").open()) {
            run("values", "30");
            assertThat(samples(scrape(new AnswerCollector(answer, metric))))
                    .hasEntrySatisfying(
                            "values_total{pid=\""
                                    + answer.rows().getFirst().key().get("pid") + "\"}",
                            count -> assertThat(count).isEqualTo(30, within(0.0)));
            assertThat(samples(scrape(new AnswerCollector(answer, metric.withStaleAfter(Duration.ZERO))))
                            .keySet())
                    .noneMatch(name -> name.startsWith("values_total"));
        }
    }

    @Test
    void anotherAnswerBeginsAgain() throws IOException, InterruptedException {
        AnswerMetric metric = AnswerMetric.named("values");
        Question question = asked("asked:value");
        AnswerCollector closed;
        try (Answer answer = question.open()) {
            closed = new AnswerCollector(answer, metric);
            run("values", "30");
            assertThat(samples(scrape(closed))).containsEntry("values_total", 30.0);
        }
        assertThat(scrape(closed)).isEmpty();
        try (Answer answer = question.open()) {
            assertThat(samples(scrape(new AnswerCollector(answer, metric)))).containsEntry("values_total", 0.0);
        }
    }

    /** The fact on which fixed bounds rest. */
    @Test
    void theBucketsOfAnAnswerAreAmongAllItsBuckets() throws IOException, InterruptedException {
        for (Question question : List.of(
                asked("asked:value").histogram("arg2"),
                asked("asked:value").histogram("arg3"),
                asked("asked:value").histogram("arg3").linear(-10, 10, 5))) {
            try (Answer answer = question.open()) {
                run("values", "60");
                Distribution all = answer.emptyDistribution().orElseThrow();
                Distribution row = answer.rows().getFirst().distribution().orElseThrow();
                assertThat(all.buckets())
                        .extracting(Distribution.Bucket::from)
                        .containsSubsequence(row.buckets().stream()
                                .map(Distribution.Bucket::from)
                                .toList());
                for (int i = 1; i < all.buckets().size(); i++) {
                    assertThat(all.buckets().get(i).from())
                            .isEqualTo(all.buckets().get(i - 1).to() + 1);
                }
                assertThat(all.unsigned()).isEqualTo(row.unsigned());
                assertThat(all.count()).isZero();
                assertThat(answer.keys()).isEmpty();
            }
        }
    }

    @Test
    void aQuestionThatOnlyShowsEventsHasNoMetric() throws IOException {
        try (Answer answer = asked("asked:value").show("arg0").open()) {
            assertThatThrownBy(() -> new AnswerCollector(answer, AnswerMetric.named("m")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("shows events");
        }
    }
}
