package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildCommandTest {
    @TempDir
    Path directory;

    @Test
    void theCommandDoesNothingBeforeItIsLetGoAndKeepsItsProcess() throws Exception {
        Path mark = directory.resolve("mark");
        Path script = script("echo $$ > '" + mark + "'");
        try (ChildCommand child = ChildCommand.start(script.toString(), false)) {
            assertThat(child.executable()).isEqualTo(script);
            // A command that runs would end, and the script never sleeps.
            await(() -> child.isAlive() && isAsleep(child.pid()));
            assertThat(mark).doesNotExist();

            child.resume();
            await(() -> !child.isAlive());
            assertThat(mark).hasContent(child.pid() + "\n");
        }
    }

    @Test
    void closingEndsAHeldCommandAndARunningOne() throws Exception {
        ChildCommand held = ChildCommand.start("sleep 3600", false);
        held.close();
        await(() -> !held.isAlive());

        ChildCommand running = ChildCommand.start("sleep 3600", true);
        running.resume();
        running.close();
        await(() -> !running.isAlive());
        running.close();
    }

    @Test
    void saysWhatIsWrongWithTheCommand() throws IOException {
        assertThatThrownBy(() -> ChildCommand.start("bpf4j-no-such-command", false))
                .isInstanceOf(CommandException.class)
                .hasMessage("bpf4j-no-such-command: no such command in PATH");
        Path data = Files.writeString(directory.resolve("data"), "x");
        assertThatThrownBy(() -> ChildCommand.start(data.toString(), false)).hasMessage(data + ": is not executable");
        assertThatThrownBy(() -> ChildCommand.start(directory + "/missing", false))
                .hasMessage(directory + "/missing: no such command");
    }

    private Path script(String body) throws IOException {
        Path script = directory.resolve("script");
        Files.writeString(script, "#!/bin/sh\n" + body + "\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();
        return script;
    }

    private static boolean isAsleep(int pid) {
        try {
            // "4711 (sh) S …": proc_pid_stat(5)
            return Files.readString(Path.of("/proc/" + pid + "/stat")).contains(") S ");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void await(java.util.function.BooleanSupplier condition) throws InterruptedException {
        // Far above what two shells take on a busy machine: it ends a test that hangs.
        long deadline = System.nanoTime() + Duration.ofMinutes(10).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline)
                    .as("condition within ten minutes")
                    .isNegative();
            Thread.sleep(5);
        }
    }
}
