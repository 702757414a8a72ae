package io.bpf4j.benchmarks;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.prometheus.AnswerCollector;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One scrape of a metric with 10,000 series: reading the answer from the kernel, and writing it as OpenMetrics text. The
 * series of a histogram are its classic buckets, with count and sum. The events are calls of {@code labs} of the C
 * library in this JVM.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Fork(1)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@State(Scope.Benchmark)
public class ScrapeBenchmark {
    private static final int SERIES = 10_000;

    /** By default a histogram has 13 bounds and the infinite one; with count and sum there are 16 series. */
    private static final int SERIES_OF_HISTOGRAM = 16;

    @Param({"counter", "histogram"})
    private String kind = "counter";

    private final ByteArrayOutputStream text = new ByteArrayOutputStream();
    private final OpenMetricsTextFormatWriter writer = OpenMetricsTextFormatWriter.builder()
            .setCreatedTimestampsEnabled(false)
            .build();
    private @Nullable Answer answer;
    private @Nullable AnswerCollector collector;

    /** Where this process has mapped the C library from. */
    private static Path libc() throws IOException {
        try (Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            return mappings.filter(line -> line.endsWith("/libc.so.6"))
                    .map(line -> Path.of(line.substring(line.indexOf('/'))))
                    .findFirst()
                    .orElseThrow(() -> new IllegalStateException("this JVM has mapped no libc.so.6"));
        }
    }

    @Setup
    @SuppressWarnings("restricted") // the call of the C library
    public void fire() throws Throwable {
        boolean counts = kind.equals("counter");
        int keys = counts ? SERIES : SERIES / SERIES_OF_HISTOGRAM;
        Question question = Question.on(List.of())
                .alsoOn(FunctionProbe.entry(libc(), "labs"))
                .where("pid == " + ProcessHandle.current().pid())
                .by("arg0 % " + keys)
                .withMaxKeys(keys);
        Answer opened = (counts ? question : question.histogram("arg0")).open();
        answer = opened;
        Linker linker = Linker.nativeLinker();
        MethodHandle labs = linker.downcallHandle(
                linker.defaultLookup().find("labs").orElseThrow(),
                FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        for (long n = 0; n < 20L * keys; n++) {
            long _ = (long) labs.invokeExact(n);
        }
        if (opened.rows().size() != keys || !opened.isExact()) {
            throw new IllegalStateException(opened.rows().size() + " keys, and " + opened.gaps());
        }
        collector = new AnswerCollector(opened, AnswerMetric.named("calls").withMaxSeries(SERIES));
        long series = keys * (counts ? 1L : SERIES_OF_HISTOGRAM);
        int _ = scrape();
        long written = text.toString(StandardCharsets.UTF_8)
                .lines()
                .filter(line -> line.startsWith("calls") && line.contains("{arg0"))
                .count();
        if (written != series || series != SERIES) {
            throw new IllegalStateException(written + " series are written, which are not " + SERIES);
        }
    }

    @Benchmark
    public int scrape() throws IOException {
        AnswerCollector collected = collector;
        text.reset();
        if (collected != null) {
            writer.write(text, collected.collect());
        }
        return text.size();
    }

    @TearDown
    public void close() {
        Answer opened = answer;
        if (opened != null) {
            opened.close();
        }
    }
}
