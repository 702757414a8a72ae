package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs other programs and waits for them. */
public final class Commands {
    /** Ends a test that hangs. On two processors that twenty others want, a browser needs minutes to start. */
    private static final long TIMEOUT_SECONDS = Patience.scaled(600);

    private Commands() {}

    /** What a finished program said. */
    public record Result(int exitCode, String out, String err) {}

    /** The path of a program on {@code PATH}. */
    public static Optional<Path> find(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "/usr/bin:/bin").split(":"))
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** The newest clang, 19 first because the committed objects come from it. */
    public static Optional<Path> clang() {
        return Stream.of("clang-19", "clang-20", "clang-18", "clang-17", "clang-16", "clang", "clang-15", "clang-14")
                .flatMap(name -> find(name).stream())
                .findFirst();
    }

    /** The command by which clang compiles a BPF program, with type information. */
    public static List<String> clang(Path source, Path object, String... options) {
        return Stream.of(
                        Stream.of(clang().orElseThrow().toString(), "-target", "bpf", "-O2", "-g"),
                        Stream.of(options),
                        Stream.of("-c", source.toString(), "-o", object.toString()))
                .flatMap(part -> part)
                .toList();
    }

    /** Runs a program to its end. */
    public static Result run(List<String> command) throws IOException, InterruptedException {
        return run(new ProcessBuilder(command));
    }

    /** Runs a program to its end, with empty standard input unless the builder says otherwise. */
    public static Result run(ProcessBuilder builder) throws IOException, InterruptedException {
        // Files, not pipes: neither stream can fill up while the other is read.
        Path out = Files.createTempFile("bpf4j-out", ".txt");
        Path err = Files.createTempFile("bpf4j-err", ".txt");
        try {
            if (builder.redirectInput().equals(ProcessBuilder.Redirect.PIPE)) {
                builder.redirectInput(Path.of("/dev/null").toFile());
            }
            Process process = builder.redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
                throw new AssertionError(builder.command() + " did not end within " + TIMEOUT_SECONDS + " s; it said: "
                        + text(out) + text(err));
            }
            return new Result(process.exitValue(), text(out), text(err));
        } finally {
            Files.deleteIfExists(out);
            Files.deleteIfExists(err);
        }
    }

    /** Whether a program is there and ends with 0. */
    static boolean succeeds(String... command) {
        try {
            return run(List.of(command)).exitCode() == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Runs a program that has to succeed; its standard output. */
    public static String check(List<String> command) throws IOException, InterruptedException {
        Result result = run(command);
        if (result.exitCode() != 0) {
            throw new AssertionError(command + " ended with " + result.exitCode() + ": " + result.out() + result.err());
        }
        return result.out();
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
}
