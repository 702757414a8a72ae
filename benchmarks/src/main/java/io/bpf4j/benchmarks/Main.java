package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.runner.RunnerException;

/**
 * Runs the benchmarks in rounds, and prints what they measured.
 *
 * <pre>
 * Main [--quick | --smoke] [--busy] [--results FOLDER] [--yardstick PROGRAM] [PATTERN…]
 * </pre>
 *
 * {@code --quick} for one round of fewer shots, {@code --smoke} for one shot each, which measures nothing and shows that
 * everything runs; {@code --busy} compares although the machine has other work; {@code --results} for a folder that
 * gets all times as JSON and a picture for each work that has sizes; {@code --yardstick} for the C harness; {@code
 * PATTERN} for benchmarks whose names it is found in, as a regular expression: those of JMH's methods, and those of the
 * rows that programs outside of JMH measure.
 */
public final class Main {
    private static final int WRONG_USAGE = 2;

    private RunLength length = RunLength.FULL;
    private boolean busy;
    private @Nullable Path results;
    private @Nullable Path yardstick;
    private final List<Pattern> patterns = new ArrayList<>();
    private final Comparison comparison = new Comparison();

    private Main(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            switch (arguments[i]) {
                case "--quick" -> length = RunLength.QUICK;
                case "--smoke" -> length = RunLength.SMOKE;
                case "--busy" -> busy = true;
                case "--results" -> results = Path.of(arguments[++i]);
                case "--yardstick" -> yardstick = Path.of(arguments[++i]);
                default -> patterns.add(Pattern.compile(arguments[i]));
            }
        }
    }

    public static void main(String[] arguments) throws RunnerException, IOException, InterruptedException {
        Main main;
        try {
            main = new Main(arguments);
        } catch (PatternSyntaxException e) {
            System.err.println(e.getPattern() + " is no regular expression: " + e.getDescription());
            System.exit(WRONG_USAGE);
            return;
        }
        if (!main.run()) {
            System.exit(WRONG_USAGE);
        }
    }

    /** Returns false if there is nothing to measure. */
    private boolean run() throws RunnerException, IOException, InterruptedException {
        if (length == RunLength.SMOKE) {
            // Nothing is measured, so it does not matter that another checkout runs JMH at the same time.
            System.setProperty("jmh.ignoreLock", "true");
        }
        Round round = new Round(length, yardstick, patterns, comparison);
        if (round.isEmpty()) {
            System.err.println("no benchmark matches "
                    + patterns.stream().map(Pattern::pattern).collect(Collectors.joining(" ")) + "; there are:");
            Round.names().forEach(System.err::println);
            return false;
        }
        double mostBusy = 0;
        MachineLoad start = MachineLoad.now();
        for (int i = 0; i < length.rounds; i++) {
            mostBusy = Math.max(mostBusy, MachineLoad.ofOthers());
            round.measure();
        }
        double stolen = MachineLoad.now().stolenSince(start);
        if (length == RunLength.SMOKE) {
            System.out.println("One shot of each benchmark has run. Nothing was measured.");
            return true;
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
        return true;
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
