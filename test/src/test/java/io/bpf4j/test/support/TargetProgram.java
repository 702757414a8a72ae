package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The C program under {@code test/src/test/c}, compiled when first asked for and running. Its commands are in
 * {@code main.c}: {@code sizes}, {@code forms}, {@code many N}, {@code poke N}, …
 */
public final class TargetProgram extends LineProcess {
    private final Path path;

    private TargetProgram(Path path) throws IOException {
        this(path, List.of(path.toString()));
    }

    private TargetProgram(Path path, List<String> command) throws IOException {
        super(new ProcessBuilder(command));
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

    /** Starts the program in a mount namespace of its own, in which the folder that it is in has another name, too. */
    public static TargetProgram startElsewhere(String folder, String... flags) throws IOException {
        Path program = compile(flags);
        String mount = "mount --bind \"$0\" \"$1\" && exec \"$1/$2\"";
        return new TargetProgram(
                program,
                List.of(
                        "unshare",
                        "-m",
                        "sh",
                        "-c",
                        mount,
                        String.valueOf(program.getParent()),
                        folder,
                        String.valueOf(program.getFileName())));
    }

    public Path path() {
        return path;
    }

    /** The program compiled with these flags. */
    public static Path compile(String... flags) {
        return CPrograms.compile("", flags);
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
