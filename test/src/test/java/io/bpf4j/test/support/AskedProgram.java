package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * A copy of the program {@code asked} for one test class, since a probe fires for all processes that run a file; and
 * configurations of agents about it.
 */
public final class AskedProgram {
    private final Path folder;
    private final Path file;
    private int configs;

    private AskedProgram(Path folder, Path file) {
        this.folder = folder;
        this.file = file;
    }

    /** Copies it into a folder. */
    public static AskedProgram in(Path folder) throws IOException {
        Path file = Files.copy(CPrograms.asked(), folder.resolve("asked"));
        if (!file.toFile().setExecutable(true)) {
            throw new IOException(file + " can't be made executable");
        }
        return new AskedProgram(folder, file);
    }

    public Path file() {
        return file;
    }

    /** A question about it, which has {@code FILE} in the place of its path. */
    public String about(String question) {
        return question.replace("FILE", file.toString());
    }

    /** A new configuration of an agent, of questions about it. */
    public Path config(String... lines) throws IOException {
        String text = about(String.join("\n", lines) + "\n");
        return Files.writeString(folder.resolve("agent" + configs++ + ".conf"), text);
    }

    /** Runs it to its end. */
    public void run(String... arguments) throws IOException, InterruptedException {
        Commands.check(
                Stream.concat(Stream.of(file.toString()), Stream.of(arguments)).toList());
    }
}
