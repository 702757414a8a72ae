package io.bpf4j.test.again;

import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * Runs test classes in many rounds, to find tests that fail now and then: see {@code test/again}.
 *
 * <p>A round has a number, and from it a seed and a {@link Condition}. The seed decides the order of the classes, of the
 * methods in each, and what tests choose at random. The classes of a module run one after the other in one JVM, or in
 * several JVMs at the same time. Their outcomes are appended to files of the round; so a run that was ended goes on with
 * the classes that have none.
 */
public final class Again {
    private static final int HOG_MEGABYTES = 512;

    private final Path checkout = TargetProgram.testModule().resolve("..").normalize();
    private final Options options;
    private final Path folder;
    /** No class begins after it. */
    private final Instant end;

    private Again(Options options) {
        this.options = options;
        this.folder = TargetProgram.testModule().resolve("target/again").resolve(options.key());
        this.end = options.minutes()
                .map(minutes -> Instant.now().plus(Duration.ofMinutes(minutes)))
                .orElse(Instant.MAX);
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

    /** Runs the classes of a module that have not ended yet, in as many JVMs at the same time as the options say. */
    private void run(Suite suite, int round, long seed, Condition condition) throws IOException, InterruptedException {
        RoundFiles files = RoundFiles.of(folder, suite, round);
        delete(files.claims());
        Files.createDirectories(files.claims());
        Files.createDirectories(files.failures());
        List<String> left = new ArrayList<>(suite.classes());
        Collections.shuffle(left, new Random(seed));
        files.ended().forEach(outcome -> left.remove(outcome.testClass()));
        List<Worker> workers = new ArrayList<>();
        for (int jvm = 0; jvm < Math.min(options.jobs(), left.size()); jvm++) {
            List<String> command = new ArrayList<>(condition.prefix(folder.resolve("slow-disk-" + jvm + ".img")));
            command.addAll(suite.java(seed));
            command.addAll(Round.command(seed, end, files, jvm));
            command.addAll(left);
            workers.add(new Worker(jvm, files, suite.folder(), command));
        }
        try (ExecutorService executor = Executors.newFixedThreadPool(options.jobs())) {
            for (Future<Void> done : executor.invokeAll(workers)) {
                done.get();
            }
        } catch (ExecutionException e) {
            throw new IOException(e.getCause());
        }
        report(suite, round, seed, condition, files.ended());
    }

    private void report(Suite suite, int round, long seed, Condition condition, List<Outcome> outcomes) {
        long red = outcomes.stream().filter(Outcome::isRed).count();
        long seconds = outcomes.stream().mapToLong(Outcome::millis).sum() / 1000;
        System.out.printf(
                "%s, round %d of %d, %s, seed %d: %d classes, %d red, %d s%n",
                suite.name(), round + 1, options.rounds(), condition.option(), seed, outcomes.size(), red, seconds);
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
                Java.path(),
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
     * @param jobs how many classes run at the same time
     * @param minutes after which no class begins
     * @param load how many threads compute beside the tests, where it isn't the condition's number
     * @param classes names with or without the package; empty for all
     */
    record Options(
            boolean units,
            boolean integration,
            int rounds,
            int jobs,
            Optional<Integer> minutes,
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
            int jobs = 1;
            Optional<Integer> minutes = Optional.empty();
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
                    case "--jobs" -> jobs = Integer.parseInt(value(arguments, ++i));
                    case "--minutes" -> minutes = Optional.of(Integer.parseInt(value(arguments, ++i)));
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
                    units || both,
                    integration || both,
                    rounds,
                    jobs,
                    minutes,
                    condition,
                    load,
                    seed,
                    restart,
                    List.copyOf(classes));
        }

        private static String value(String[] arguments, int at) {
            if (at == arguments.length) {
                throw new IllegalArgumentException("a value is missing after " + arguments[at - 1]);
            }
            return arguments[at];
        }

        /** The same for the same selection: a run that was ended is found by it. */
        String key() {
            String text =
                    units + " " + integration + " " + rounds + " " + jobs + " " + condition + load + seed + classes;
            return Integer.toHexString(text.hashCode());
        }

        boolean selects(String testClass) {
            return classes.isEmpty()
                    || classes.stream().anyMatch(name -> testClass.equals(name) || testClass.endsWith("." + name));
        }
    }
}
