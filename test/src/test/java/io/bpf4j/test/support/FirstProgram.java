package io.bpf4j.test.support;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The program of {@code src/test/c/first}, which fires a known number of times right after fork, exec and dlopen, and
 * its library.
 *
 * @param program the program
 * @param library a library whose constructor fires 1,000 times
 */
public record FirstProgram(Path program, Path library) {

    /** Compiles both into a folder. */
    public static FirstProgram compile(Path folder) throws IOException, InterruptedException {
        Path sources = TargetProgram.testModule().resolve("src/test/c/first");
        FirstProgram made = new FirstProgram(folder.resolve("first"), folder.resolve("libfirst.so"));
        gcc("-o", made.program.toString(), sources.resolve("main.c").toString(), "-ldl", "-pthread");
        gcc(
                "-shared",
                "-fPIC",
                "-o",
                made.library.toString(),
                sources.resolve("library.c").toString());
        return made;
    }

    private static void gcc(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2"));
        command.addAll(List.of(arguments));
        Commands.check(command);
    }

    /** An executable script for /bin/sh. */
    public static Path script(Path file, String... lines) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
        if (!file.toFile().setExecutable(true)) {
            throw new IOException(file + " can't be made executable");
        }
        return file;
    }
}
