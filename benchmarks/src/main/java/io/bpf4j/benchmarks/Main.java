package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the benchmarks and prints their times beside those of other ways to do the same.
 *
 * <pre>
 * Main [--quick] [--json FILE] [--yardstick FILE] [PATTERN…]
 * </pre>
 *
 * {@code --quick} for fewer rounds, {@code --json} for JMH's own results in full, {@code --yardstick} for the lines of
 * the C harness, {@code PATTERN} for JMH's choice of benchmarks by regular expression.
 */
public final class Main {
    private static final String FIRST = "FirstUseBenchmark";

    private Main() {}

    public static void main(String[] arguments) throws RunnerException, IOException {
        boolean quick = false;
        @Nullable Path json = null;
        @Nullable Path yardstick = null;
        List<String> patterns = new ArrayList<>();
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--quick" -> quick = true;
                case "--json" -> json = Path.of(arguments[++i]);
                case "--yardstick" -> yardstick = Path.of(arguments[++i]);
                default -> patterns.add(arguments[i]);
            }
        }

        // A first attach is first once per JVM: what makes the others shorter would make it another thing.
        Collection<RunResult> results = new ArrayList<>();
        ChainedOptionsBuilder steady = options(patterns, json, "").exclude(FIRST);
        ChainedOptionsBuilder first = options(patterns, json, "first-").exclude("^(?!.*" + FIRST + ").*$");
        if (quick) {
            // Of what is timed shot by shot, fewer shots; of what runs for a time, less time.
            steady.forks(1)
                    .warmupIterations(40)
                    .measurementIterations(9)
                    .warmupTime(TimeValue.milliseconds(200))
                    .measurementTime(TimeValue.milliseconds(300));
            first.forks(3);
        }
        for (ChainedOptionsBuilder options : List.of(steady, first)) {
            try {
                results.addAll(new Runner(options.build()).run());
            } catch (NoBenchmarksException e) {
                // The patterns may choose among the others only.
            }
        }
        if (results.isEmpty()) {
            throw new RunnerException("no benchmark matches " + String.join(" ", patterns));
        }

        Comparison comparison = new Comparison();
        results.forEach(comparison::add);
        if (yardstick != null) {
            comparison.addYardstick(yardstick);
        }
        System.out.println(comparison.table());
    }

    private static ChainedOptionsBuilder options(List<String> patterns, @Nullable Path json, String prefix) {
        ChainedOptionsBuilder options =
                new OptionsBuilder().shouldFailOnError(true).verbosity(VerboseMode.NORMAL);
        patterns.forEach(options::include);
        if (Targets.postgres().isEmpty()) {
            options.param("program", "libjvm.so");
        }
        if (json != null) {
            Path file = json.resolveSibling(prefix + json.getFileName());
            options.resultFormat(ResultFormatType.JSON).result(file.toString());
        }
        return options;
    }
}
