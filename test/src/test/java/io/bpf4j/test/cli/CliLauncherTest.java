package io.bpf4j.test.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script by which an installed command starts, with a program in the place of the JVM that prints its arguments. */
class CliLauncherTest {
    @TempDir
    private static Path folder;

    private static List<String> argumentsOfTheJvm(String... arguments) throws IOException, InterruptedException {
        Path launcher =
                TargetProgram.testModule().resolve("../cli/package/launcher").toRealPath();
        Path bin = Files.createDirectories(folder.resolve("bin"));
        Path installed = bin.resolve("bpf4j");
        if (Files.notExists(installed)) {
            Files.copy(launcher, installed);
            Path java = Files.createDirectories(folder.resolve("lib/bpf4j/runtime/bin"))
                    .resolve("java");
            Files.writeString(java, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n");
            Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
            Files.setPosixFilePermissions(installed, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
        ProcessBuilder command = new ProcessBuilder(Stream.concat(Stream.of(installed.toString()), Stream.of(arguments))
                .toList());
        Commands.Result result = Commands.run(command);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result.out().lines().toList();
    }

    /** It would else touch a 64th of the machine's memory before its first collection. */
    @Test
    void theAgentBeginsWithASmallHeap() throws IOException, InterruptedException {
        assertThat(argumentsOfTheJvm("export", "--config", "a file"))
                .containsSubsequence("-Xms8m", "io.bpf4j.cli.Main", "export", "--config", "a file")
                .endsWith("a file");
    }

    @Test
    void otherCommandsHaveTheHeapOfTheJvm() throws IOException, InterruptedException {
        assertThat(argumentsOfTheJvm("count", "export"))
                .endsWith("io.bpf4j.cli.Main", "count", "export")
                .noneMatch(argument -> argument.startsWith("-Xms"));
        assertThat(argumentsOfTheJvm()).endsWith("io.bpf4j.cli.Main");
    }
}
