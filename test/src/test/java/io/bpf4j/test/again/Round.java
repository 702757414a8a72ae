package io.bpf4j.test.again;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs those of the named test classes that no other JVM has claimed, one after the other in this JVM, their methods in the random order of a seed, and appends what became
 * of each class to a file. {@link Again} starts it.
 */
final class Round {
    private Round() {}

    /** The end of the command line that starts a JVM, without the names of the classes. */
    static List<String> command(long seed, Instant end, RoundFiles files, int jvm) {
        return List.of(
                Round.class.getName(),
                Long.toString(seed),
                end.toString(),
                files.outcomes(jvm).toString(),
                files.failures().toString(),
                files.claims().toString());
    }

    public static void main(String[] arguments) throws IOException {
        String seed = arguments[0];
        Instant end = Instant.parse(arguments[1]);
        Path results = Path.of(arguments[2]);
        Path failures = Path.of(arguments[3]);
        Path claims = Path.of(arguments[4]);
        Launcher launcher = LauncherFactory.create();
        for (String name : Arrays.asList(arguments).subList(5, arguments.length)) {
            if (Instant.now().isAfter(end)) {
                break;
            }
            if (!claim(claims.resolve(name))) {
                continue;
            }
            append(results, Outcome.began(name));
            long start = System.nanoTime();
            Counter counter = new Counter();
            launcher.execute(request(name, seed), counter);
            if (!counter.failures.isEmpty()) {
                Files.writeString(failures.resolve(name + ".txt"), String.join("\n", counter.failures));
            }
            append(results, counter.outcome(name, (System.nanoTime() - start) / 1_000_000));
        }
        // Threads that a test has left would keep the JVM.
        System.exit(0);
    }

    /** False if another JVM has claimed it. */
    private static boolean claim(Path file) throws IOException {
        try {
            Files.createFile(file);
            return true;
        } catch (FileAlreadyExistsException _) {
            return false;
        }
    }

    private static LauncherDiscoveryRequest request(String name, String seed) {
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(DiscoverySelectors.selectClass(name))
                .configurationParameter(
                        "junit.jupiter.testmethod.order.default", "org.junit.jupiter.api.MethodOrderer$Random")
                .configurationParameter(
                        "junit.jupiter.testclass.order.default", "org.junit.jupiter.api.ClassOrderer$Random")
                .configurationParameter("junit.jupiter.execution.order.random.seed", seed)
                .build();
    }

    private static void append(Path results, Outcome outcome) throws IOException {
        Files.writeString(
                results,
                outcome.line() + "\n",
                StandardCharsets.UTF_8,
                StandardOpenOption.CREATE,
                StandardOpenOption.APPEND);
    }

    private static final class Counter implements TestExecutionListener {
        private static final Pattern MISSING = Pattern.compile("([A-Z0-9_]+): needs ");

        private final List<String> failed = new ArrayList<>();
        private final List<String> failures = new ArrayList<>();
        private int tests;
        private final List<String> skipped = new ArrayList<>();

        @Override
        public void executionSkipped(TestIdentifier test, String reason) {
            skipped.add(reason);
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            if (test.isTest()) {
                tests++;
            }
            switch (result.getStatus()) {
                case SUCCESSFUL -> {}
                case ABORTED -> skipped.add(missing(result));
                case FAILED -> {
                    failed.add(test.getDisplayName());
                    StringWriter trace = new StringWriter();
                    result.getThrowable().ifPresent(t -> t.printStackTrace(new PrintWriter(trace)));
                    failures.add(test.getDisplayName() + " (" + test.getUniqueId() + ")\n" + trace);
                }
            }
        }

        /** The names of the requirements that were missing, as {@code RequirementsExtension} says them. */
        private static String missing(TestExecutionResult result) {
            String message = result.getThrowable().map(Throwable::getMessage).orElse("");
            String names = MISSING.matcher(message)
                    .results()
                    .map(found -> found.group(1))
                    .collect(Collectors.joining(" "));
            return names.isEmpty() ? "another reason" : names;
        }

        Outcome outcome(String name, long millis) {
            return new Outcome(name, true, tests, List.copyOf(skipped), List.copyOf(failed), millis);
        }
    }
}
