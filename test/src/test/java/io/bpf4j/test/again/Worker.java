package io.bpf4j.test.again;

import io.bpf4j.test.support.Processes;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * Runs classes of a round in a JVM, which takes each class that no other JVM of the round has claimed. When the JVM ends
 * or hangs in a class, the class is red, and another JVM takes the rest.
 */
final class Worker implements Callable<Void> {
    /** A class that takes longer is taken for one that hangs. The slowest takes a minute on an idle machine. */
    private static final long LIMIT_MINUTES = 40;

    private final int jvm;
    private final RoundFiles files;
    private final Path folder;
    private final List<String> command;

    /**
     * @param jvm its number among those that run at the same time
     * @param folder of the module, in which its tests run
     * @param command starts {@link Round}
     */
    Worker(int jvm, RoundFiles files, Path folder, List<String> command) {
        this.jvm = jvm;
        this.files = files;
        this.folder = folder;
        this.command = command;
    }

    @Override
    public Void call() throws IOException, InterruptedException {
        Path outcomes = files.outcomes(jvm);
        while (true) {
            long start = System.nanoTime();
            // A run that goes on finds classes that have begun and were ended with the run: they begin again.
            int before = Outcome.begun(outcomes).size();
            String how = runJvm(outcomes);
            List<String> begun = Outcome.begun(outcomes);
            List<String> unfinished = new ArrayList<>(begun.subList(before, begun.size()));
            Outcome.ended(outcomes).forEach(outcome -> unfinished.remove(outcome.testClass()));
            if (how.isEmpty() && unfinished.isEmpty()) {
                return null;
            }
            if (unfinished.isEmpty()) {
                throw new IOException("a JVM " + how + " outside of any test class: see " + files.log(jvm));
            }
            String reason = how.isEmpty() ? "ended the JVM" : how;
            for (String name : unfinished) {
                long millis = (System.nanoTime() - start) / 1_000_000;
                Outcome outcome = Outcome.unfinished(name, reason, millis);
                Files.writeString(outcomes, outcome.line() + "\n", StandardOpenOption.APPEND);
                System.out.println("red: " + name + " " + reason);
            }
        }
    }

    /** Runs a JVM to its end. Returns how it ended; empty if it has run all classes that it claimed. */
    private String runJvm(Path outcomes) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(ProcessBuilder.Redirect.appendTo(files.log(jvm).toFile()))
                .start();
        Thread end = new Thread(() -> Processes.end(process));
        Runtime.getRuntime().addShutdownHook(end);
        try {
            List<Outcome> ended = Outcome.ended(outcomes);
            long last = System.nanoTime();
            boolean runs = true;
            while (runs) {
                runs = !process.waitFor(1, TimeUnit.SECONDS);
                List<Outcome> now = Outcome.ended(outcomes);
                now.subList(ended.size(), now.size()).forEach(Worker::print);
                last = now.size() > ended.size() ? System.nanoTime() : last;
                ended = now;
                if (runs && System.nanoTime() - last > TimeUnit.MINUTES.toNanos(LIMIT_MINUTES)) {
                    // The JVM prints its threads.
                    new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                            .start()
                            .waitFor();
                    if (!process.waitFor(10, TimeUnit.SECONDS)) {
                        Processes.end(process);
                    }
                    return "was killed, since a class took more than " + LIMIT_MINUTES + " minutes";
                }
            }
            return process.exitValue() == 0 ? "" : "ended with exit code " + process.exitValue();
        } finally {
            Runtime.getRuntime().removeShutdownHook(end);
        }
    }

    private static void print(Outcome outcome) {
        System.out.printf(
                "%7.1f s  %s: %d tests, %d skipped%s%n",
                outcome.millis() / 1e3,
                outcome.testClass(),
                outcome.tests(),
                outcome.skipped().size(),
                outcome.isRed() ? ", red: " + String.join(" | ", outcome.failed()) : "");
    }
}
