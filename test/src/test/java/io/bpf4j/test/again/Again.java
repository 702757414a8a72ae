package io.bpf4j.test.again;

import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.TargetProgram;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Runs test classes in many rounds, to find tests that fail now and then: see {@code test/again}.
 *
 * <p>A round has a number, and from it a seed and a {@link Condition}. The seed decides the order of the classes, of the
 * methods in each, and what tests choose at random. All classes of a module run in one JVM. Their outcomes are appended
 * to a file per round; so a run that was ended goes on with the class after the last one.
 */
public final class Again {
    /** A class that takes longer is taken for one that hangs. The slowest takes a minute on an idle machine. */
    private static final long LIMIT_MINUTES = 40;

    private static final int HOG_MEGABYTES = 512;

    private final Path checkout = TargetProgram.testModule().resolve("..").normalize();
    private final Options options;
    private final Path folder;

    private Again(Options options) {
        this.options = options;
        this.folder = TargetProgram.testModule().resolve("target/again").resolve(options.key());
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        Options options;
        try {
            options = Options.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.println("test/again: " + e.getMessage());
            System.exit(2);
            return;
        }
        System.exit(new Again(options).run() ? 0 : 1);
    }

    private boolean run() throws IOException, InterruptedException {
        List<Suite> suites = Suite.of(checkout, options);
        if (suites.isEmpty()) {
            System.err.println("test/again: no test class is named so: " + String.join(" ", options.classes()));
            return false;
        }
        Path finished = folder.resolve("finished");
        if (options.restart() || Files.exists(finished)) {
            delete(folder);
        }
        Files.createDirectories(folder);
        long seed = seed();
        for (int round = 0; round < options.rounds(); round++) {
            Condition condition = options.condition().orElse(Condition.ofRound(round));
            try (Closing _ = hogs(condition)) {
                for (Suite suite : suites) {
                    run(suite, round, seed + round, condition);
                }
            }
        }
        boolean green = new Table(options, seed, folder).print(suites);
        Files.createFile(finished);
        return green;
    }

    /** That of the first round, kept for a run that goes on. */
    private long seed() throws IOException {
        Path file = folder.resolve("seed");
        if (!Files.exists(file)) {
            Files.writeString(file, Long.toString(options.seed().orElse(System.currentTimeMillis() / 1000)));
        }
        return Long.parseLong(Files.readString(file));
    }

    private void run(Suite suite, int round, long seed, Condition condition) throws IOException, InterruptedException {
        Path results = folder.resolve(suite.name() + "-" + round + ".tsv");
        List<String> left = new ArrayList<>(suite.classes());
        Collections.shuffle(left, new Random(seed));
        left.removeAll(ended(results));
        while (!left.isEmpty()) {
            long start = System.nanoTime();
            String how = runLeft(suite, round, seed, condition, results, left);
            Set<String> ended = ended(results);
            for (String begun : begun(results)) {
                if (!ended.contains(begun)) {
                    ended.add(begun);
                    long millis = (System.nanoTime() - start) / 1_000_000;
                    append(results, Outcome.unfinished(begun, how, millis));
                    System.out.println("red: " + begun + " " + how);
                }
            }
            if (!left.removeAll(ended)) {
                throw new IOException(
                        "the JVM of " + suite.name() + " " + how + " before its first class: see " + log(suite, round));
            }
        }
        report(suite, round, seed, condition, results);
    }

    /** Runs classes in a JVM until all have ended, or the JVM has; says how it has. */
    private String runLeft(Suite suite, int round, long seed, Condition condition, Path results, List<String> left)
            throws IOException, InterruptedException {
        Path failures = Files.createDirectories(folder.resolve(suite.name() + "-" + round + ".red"));
        List<String> command = new ArrayList<>(condition.prefix(folder.resolve("slow-disk.img")));
        command.addAll(suite.java(seed));
        command.addAll(List.of(Round.class.getName(), Long.toString(seed), results.toString(), failures.toString()));
        command.addAll(left);
        File log = log(suite, round).toFile();
        Process process = new ProcessBuilder(command)
                .directory(suite.folder().toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log))
                .start();
        Thread end = new Thread(() -> Processes.end(process));
        Runtime.getRuntime().addShutdownHook(end);
        try {
            long size = -1;
            while (true) {
                // Each class appends a line when it begins and one when it has ended.
                if (process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
                    return "ended with exit code " + process.exitValue();
                }
                long now = Files.exists(results) ? Files.size(results) : 0;
                if (now == size) {
                    // The JVM prints its threads.
                    new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                            .start()
                            .waitFor();
                    if (!process.waitFor(10, TimeUnit.SECONDS)) {
                        Processes.end(process);
                    }
                    return "was killed, since a class took more than " + LIMIT_MINUTES + " minutes";
                }
                size = now;
            }
        } finally {
            Runtime.getRuntime().removeShutdownHook(end);
        }
    }

    private Path log(Suite suite, int round) {
        return folder.resolve(suite.name() + "-" + round + ".log");
    }

    private void report(Suite suite, int round, long seed, Condition condition, Path results) throws IOException {
        List<Outcome> outcomes = outcomes(results);
        long red = outcomes.stream().filter(Outcome::isRed).count();
        long seconds = outcomes.stream().mapToLong(Outcome::millis).sum() / 1000;
        System.out.printf(
                "%s, round %d of %d, %s, seed %d: %d classes, %d red, %d s%n",
                suite.name(), round + 1, options.rounds(), condition.option(), seed, outcomes.size(), red, seconds);
        outcomes.stream()
                .filter(Outcome::isRed)
                .forEach(outcome -> System.out.println(
                        "  red: " + outcome.testClass() + ": " + String.join(" | ", outcome.failed())));
    }

    private static Set<String> begun(Path results) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        lines(results).forEach(outcome -> names.add(outcome.testClass()));
        return names;
    }

    private static Set<String> ended(Path results) throws IOException {
        Set<String> names = new LinkedHashSet<>();
        outcomes(results).forEach(outcome -> names.add(outcome.testClass()));
        return names;
    }

    /** Of the classes that have ended. */
    static List<Outcome> outcomes(Path results) throws IOException {
        return lines(results).stream().filter(Outcome::ended).toList();
    }

    private static List<Outcome> lines(Path results) throws IOException {
        return Files.exists(results)
                ? Files.readAllLines(results).stream().map(Outcome::parse).toList()
                : List.of();
    }

    private static void append(Path results, Outcome outcome) throws IOException {
        Files.writeString(results, outcome.line() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }

    private interface Closing extends AutoCloseable {
        @Override
        void close();
    }

    private Closing hogs(Condition condition) throws IOException {
        int threads =
                options.load().orElse(condition.threads(Runtime.getRuntime().availableProcessors()));
        if (threads == 0) {
            return () -> {};
        }
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Hogs.class.getName(),
                Integer.toString(threads),
                Integer.toString(condition.percent()),
                Integer.toString(HOG_MEGABYTES),
                folder.toString());
        // It ends when its standard input does, and so with this process at the latest.
        Process process = new ProcessBuilder(command)
                .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        return () -> Processes.end(process);
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Collections.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    /**
     * What the command line says.
     *
     * @param units whether unit tests run
     * @param integration whether integration tests run
     * @param load how many threads compute beside the tests, where it isn't the condition's number
     * @param classes names with or without the package; empty for all
     */
    record Options(
            boolean units,
            boolean integration,
            int rounds,
            Optional<Condition> condition,
            Optional<Integer> load,
            Optional<Long> seed,
            boolean restart,
            List<String> classes) {
        private static final int USUAL_ROUNDS = 30;

        static Options parse(String[] arguments) {
            boolean units = false;
            boolean integration = false;
            boolean restart = false;
            int rounds = USUAL_ROUNDS;
            Optional<Condition> condition = Optional.empty();
            Optional<Integer> load = Optional.empty();
            Optional<Long> seed = Optional.empty();
            List<String> classes = new ArrayList<>();
            for (int i = 0; i < arguments.length; i++) {
                String argument = arguments[i];
                switch (argument) {
                    case "--units" -> units = true;
                    case "--integration" -> integration = true;
                    case "--restart" -> restart = true;
                    case "--rounds" -> rounds = Integer.parseInt(value(arguments, ++i));
                    case "--condition" -> condition = Optional.of(Condition.named(value(arguments, ++i)));
                    case "--load" -> load = Optional.of(Integer.parseInt(value(arguments, ++i)));
                    case "--seed" -> seed = Optional.of(Long.parseLong(value(arguments, ++i)));
                    default -> {
                        if (argument.startsWith("-")) {
                            throw new IllegalArgumentException(
                                    "unknown option " + argument + "; see test/again --help");
                        }
                        classes.add(argument);
                    }
                }
            }
            boolean both = units == integration;
            return new Options(
                    units || both, integration || both, rounds, condition, load, seed, restart, List.copyOf(classes));
        }

        private static String value(String[] arguments, int at) {
            if (at == arguments.length) {
                throw new IllegalArgumentException("a value is missing after " + arguments[at - 1]);
            }
            return arguments[at];
        }

        /** The same for the same selection: a run that was ended is found by it. */
        String key() {
            String text = units + " " + integration + " " + rounds + " " + condition + load + seed + classes;
            return Integer.toHexString(text.hashCode());
        }

        boolean selects(String testClass) {
            return classes.isEmpty()
                    || classes.stream().anyMatch(name -> testClass.equals(name) || testClass.endsWith("." + name));
        }
    }
}
