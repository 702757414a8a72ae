package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A trace that runs beside the test; its semaphore tells when it is attached. */
public final class RunningTrace implements AutoCloseable {
    /** On an emulated processor the command alone takes half a minute to start. */
    private static final long PATIENCE_SECONDS = Patience.scaled(120);

    private static final long LOOKS = PATIENCE_SECONDS * 20;

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

    /** Waits until standard output has that many lines with this. */
    public void awaitEvents(String text, int lines) throws IOException, InterruptedException {
        awaitLines(out, text, lines);
    }

    private void awaitLines(Path file, String text, int lines) throws IOException, InterruptedException {
        for (int i = 0; i < LOOKS; i++) {
            // Before the look: what it said last counts.
            boolean ended = !process.isAlive();
            if (Files.readString(file).lines().filter(l -> l.contains(text)).count() >= lines) {
                return;
            }
            if (ended) {
                break;
            }
            Thread.sleep(50);
        }
        throw new AssertionError(
                "not " + lines + " times '" + text + "': " + Files.readString(out) + Files.readString(err));
    }

    public void awaitAttached(TargetProgram target) throws IOException, InterruptedException {
        for (int i = 0; i < LOOKS; i++) {
            if (!target.command("semaphores").startsWith("0")) {
                return;
            }
            if (!process.isAlive()) {
                break;
            }
            Thread.sleep(50);
        }
        throw new AssertionError("the trace did not attach: " + Files.readString(out) + Files.readString(err));
    }

    public Commands.Result await() throws IOException, InterruptedException {
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new AssertionError("the trace did not end: " + Files.readString(out) + Files.readString(err));
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
        process.destroyForcibly();
    }
}
