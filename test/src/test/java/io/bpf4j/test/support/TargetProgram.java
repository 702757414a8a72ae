package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * The C program under {@code test/src/test/c}, compiled when first asked for and running. Its commands are in
 * {@code main.c}: {@code sizes}, {@code forms}, {@code many N}, {@code poke N}, …
 */
public final class TargetProgram extends LineProcess {
    private static final Map<List<String>, Path> COMPILED = new ConcurrentHashMap<>();

    private final Path path;

    private TargetProgram(Path path) throws IOException {
        super(new ProcessBuilder(path.toString()));
        this.path = path;
    }

    /** Starts the program compiled with these flags, for instance {@code -O2}. */
    public static TargetProgram start(String... flags) throws IOException {
        return new TargetProgram(compile(flags));
    }

    /** Starts a copy of the program, so that the test can do to the file what it likes. */
    public static TargetProgram startCopy(Path copy) throws IOException {
        return new TargetProgram(copy);
    }

    public Path path() {
        return path;
    }

    /** The program compiled with these flags, once per run of the tests. */
    public static Path compile(String... flags) {
        return COMPILED.computeIfAbsent(List.of(flags), TargetProgram::build);
    }

    private static Path build(List<String> flags) {
        try {
            Path folder = temporaryFolder();
            Path program = folder.resolve("target");
            List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror"));
            command.addAll(flags);
            command.addAll(List.of("-o", program.toString()));
            try (Stream<Path> sources = Files.list(testModule().resolve("src/test/c"))) {
                sources.map(Path::toString)
                        .filter(s -> s.endsWith(".c"))
                        .sorted()
                        .forEach(command::add);
            }
            command.add("-lpthread");
            Commands.check(command);
            return program;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while compiling the target program", e);
        }
    }

    /** The folder of the module test: the compiled classes are two levels below it, whatever the working folder. */
    public static Path testModule() {
        try {
            return Path.of(TargetProgram.class
                            .getProtectionDomain()
                            .getCodeSource()
                            .getLocation()
                            .toURI())
                    .resolve("../..")
                    .normalize();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    /** A folder that is deleted when the tests end. */
    public static Path temporaryFolder() throws IOException {
        Path folder = Files.createTempDirectory("bpf4j-test");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> deleteRecursively(folder)));
        return folder;
    }

    static void deleteRecursively(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(f -> {
                try {
                    Files.deleteIfExists(f);
                } catch (IOException e) {
                    // A leftover under /tmp is no reason to fail a test.
                }
            });
        } catch (IOException | UncheckedIOException e) {
            // As above.
        }
    }
}
