package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A trace that runs beside the test; its messages tell when it is attached. */
public final class RunningTrace implements AutoCloseable {
    /** Ends a test that hangs. */
    private static final long PATIENCE_SECONDS = Patience.scaled(600);

    private final Process process;
    private final Path out = Files.createTempFile(folder(), "trace", ".out");
    private final Path err = Files.createTempFile(folder(), "trace", ".err");

    public RunningTrace(String... arguments) throws IOException {
        this(Cli.command(arguments));
    }

    /** Of a whole command line, which becomes the trace without another process. */
    public RunningTrace(List<String> command) throws IOException {
        process = new ProcessBuilder(command)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
    }

    private static Path folder() throws IOException {
        return TargetProgram.temporaryFolder();
    }

    public int pid() {
        return (int) process.pid();
    }

    /** Waits until standard error has this. */
    public void awaitMessage(String text) throws IOException, InterruptedException {
        awaitLines(err, text, 1);
    }

    /** Waits until standard error has a line with this, and returns the first. */
    public String message(String text) throws IOException, InterruptedException {
        awaitMessage(text);
        return Files.readString(err)
                .lines()
                .filter(line -> line.contains(text))
                .findFirst()
                .orElseThrow();
    }

    /** Waits until standard output has that many lines with this. */
    public void awaitEvents(String text, int lines) throws IOException, InterruptedException {
        awaitLines(out, text, lines);
    }

    private void awaitLines(Path file, String text, int lines) throws IOException, InterruptedException {
        awaitWhileAlive(
                lines + " times '" + text + "'",
                () -> Files.readString(file)
                                .lines()
                                .filter(l -> l.contains(text))
                                .count()
                        >= lines);
    }

    private void awaitWhileAlive(String state, Await.Condition condition) throws IOException, InterruptedException {
        Await.until(state, () -> {
            // Before the look: what it wrote last counts.
            boolean ended = !process.isAlive();
            boolean holds = condition.holds();
            if (!holds && ended) {
                throw new AssertionError("the trace ended before " + state + ": " + output());
            }
            return holds;
        });
    }

    private String output() throws IOException {
        return Files.readString(out) + Files.readString(err);
    }

    public Commands.Result await() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the trace did not end: " + output());
        }
        return new Commands.Result(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    /** Ctrl-C. */
    public void interrupt() throws IOException, InterruptedException {
        signal("INT");
    }

    /** Sends a signal. */
    public void signal(String name) throws IOException, InterruptedException {
        Commands.check(List.of("kill", "-" + name, Long.toString(process.pid())));
    }

    @Override
    public void close() {
        Processes.end(process);
    }
}
