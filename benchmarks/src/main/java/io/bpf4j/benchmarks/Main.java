package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.NoBenchmarksException;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs the benchmarks in rounds, each after the other ways to do the same, and prints all times.
 *
 * <pre>
 * Main [--quick | --smoke] [--busy] [--results FOLDER] [--yardstick PROGRAM] [PATTERN…]
 * </pre>
 *
 * {@code --quick} for one round of fewer shots, {@code --smoke} for one shot each, which measures nothing and shows that
 * everything runs; {@code --busy} compares although the machine has other work; {@code --results} for a folder that
 * gets all times as JSON and a picture for each work that has sizes; {@code --yardstick} for the C harness; {@code
 * PATTERN} for JMH's choice of benchmarks by regular expression.
 */
public final class Main {
    private static final String FIRST = "FirstUseBenchmark";

    private boolean quick;
    private boolean smoke;
    private boolean busy;
    private @Nullable Path results;
    private @Nullable Yardstick yardstick;
    private final List<String> patterns = new ArrayList<>();
    private final Comparison comparison = new Comparison();

    private Main(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--quick" -> quick = true;
                case "--smoke" -> smoke = true;
                case "--busy" -> busy = true;
                case "--results" -> results = Path.of(arguments[++i]);
                case "--yardstick" -> yardstick = new Yardstick(Path.of(arguments[++i]));
                default -> patterns.add(arguments[i]);
            }
        }
    }

    public static void main(String[] arguments) throws RunnerException, IOException, InterruptedException {
        new Main(arguments).run();
    }

    private void run() throws RunnerException, IOException, InterruptedException {
        int rounds = smoke || quick ? 1 : 3;
        double mostBusy = 0;
        MachineLoad start = MachineLoad.now();
        for (int round = 0; round < rounds; round++) {
            mostBusy = Math.max(mostBusy, MachineLoad.ofOthers());
            if (yardstick != null) {
                yardstick.measure(
                        smoke ? 1 : quick ? 9 : 17, (way, work, size, times) -> comparison.add(way, work, size, times));
            }
            measure();
        }
        double stolen = MachineLoad.now().stolenSince(start);
        if (comparison.works().isEmpty()) {
            throw new RunnerException("no benchmark matches " + String.join(" ", patterns));
        }
        if (smoke) {
            System.out.println("One shot of each benchmark has run. Nothing was measured.");
            return;
        }

        boolean quiet = busy || (mostBusy <= MachineLoad.MOST_BUSY && stolen <= MachineLoad.MOST_STOLEN);
        System.out.println(comparison.table(quiet));
        System.out.println("other work before a round: " + MachineLoad.percent(mostBusy)
                + " of the CPUs at most; taken by other guests of the host: " + MachineLoad.percent(stolen));
        if (!quiet) {
            System.out.println("That is too much to compare (most: " + MachineLoad.percent(MachineLoad.MOST_BUSY)
                    + " and "
                    + MachineLoad.percent(MachineLoad.MOST_STOLEN) + "), so there are no ratios. --busy gives them all"
                    + " the same.");
        }
        if (results != null) {
            save(results, mostBusy, stolen);
        }
    }

    private void measure() throws RunnerException {
        // A first attach is first once per JVM: what makes the others shorter would make it another thing.
        ChainedOptionsBuilder steady = options().exclude(FIRST);
        ChainedOptionsBuilder first = options().exclude("^(?!.*" + FIRST + ").*$");
        if (smoke) {
            steady.forks(1).warmupIterations(0).measurementIterations(1).measurementTime(TimeValue.milliseconds(10));
            first.forks(1);
        } else if (quick) {
            // Of what is timed shot by shot, fewer shots; of what runs for a time, less time.
            steady.forks(1)
                    .warmupIterations(40)
                    .measurementIterations(9)
                    .warmupTime(TimeValue.milliseconds(200))
                    .measurementTime(TimeValue.milliseconds(300));
            first.forks(3);
        } else {
            first.forks(2);
        }
        for (ChainedOptionsBuilder options : List.of(steady, first)) {
            try {
                new Runner(options.build()).run().forEach(comparison::add);
            } catch (NoBenchmarksException e) {
                // The patterns may choose among the others only.
            }
        }
    }

    private ChainedOptionsBuilder options() {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .shouldFailOnError(true)
                .verbosity(VerboseMode.NORMAL)
                .addProfiler(GCProfiler.class);
        patterns.forEach(options::include);
        if (Targets.postgres().isEmpty()) {
            options.param("program", "libjvm.so");
        }
        return options;
    }

    private void save(Path folder, double mostBusy, double stolen) throws IOException {
        Files.createDirectories(folder);
        for (Map.Entry<String, Comparison.Work> work : comparison.works().entrySet()) {
            if (Plot.isPossible(work.getValue())) {
                Files.writeString(folder.resolve(work.getKey() + ".svg"), Plot.svg(work.getKey(), work.getValue()));
            }
        }
        List<String> times = new ArrayList<>();
        comparison
                .works()
                .forEach((name, work) ->
                        work.sizes.forEach((size, ways) -> ways.forEach((way, shots) -> times.add(String.format(
                                Locale.ROOT,
                                "{\"work\":\"%s\",\"size\":\"%s\",\"way\":\"%s\",\"unit\":\"%s\",\"times\":[%s]}",
                                name,
                                size.text(),
                                way,
                                work.unit,
                                DoubleStream.of(shots.toArray())
                                        .mapToObj(Double::toString)
                                        .collect(Collectors.joining(",")))))));
        Files.writeString(
                folder.resolve("times.json"),
                String.format(
                        Locale.ROOT,
                        "{\"busy\":%.1f,\"stolen\":%.1f,\"measured\":[%n%s%n]}%n",
                        mostBusy,
                        stolen,
                        String.join(",\n", times)));
        System.out.println("all times and pictures: " + folder);
    }
}
