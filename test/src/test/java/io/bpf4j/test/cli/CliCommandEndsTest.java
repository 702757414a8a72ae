package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.CtrlC;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A command that bpf4j has started ends with bpf4j, also if a signal ends bpf4j before it has printed its answer. Here it
 * can't print, because nobody reads. What SIGKILL leaves is in {@link CliKilledTest}.
 */
@Requires({BPF, GCC, SDT_H})
@Timeout(1800) // for what hangs
class CliCommandEndsTest {
    @TempDir
    static Path folder;

    /** @param stubborn whether the command ignores SIGTERM */
    @ParameterizedTest
    @CsvSource({"second interrupt, false", "second interrupt, true", "one request, false", "one request, true"})
    void theCommandDoesNotOutliveATraceThatASignalEnds(String end, boolean stubborn)
            throws IOException, InterruptedException {
        Path command = folder.resolve(stubborn ? "stubborn" : "willing");
        Files.writeString(
                command,
                "#!/bin/sh\n" + (stubborn ? "trap '' TERM\n" : "") + "exec " + CPrograms.asked()
                        + " fast 1 100000000000\n");
        Files.setPosixFilePermissions(command, PosixFilePermissions.fromString("rwx------"));
        Process trace = new ProcessBuilder(Cli.command("trace", "-c", command.toString(), "asked:fast")).start();
        List<ProcessHandle> started = List.of();
        try {
            ProcessState.awaitBlockedWrite(trace.pid());
            started = trace.descendants().toList();
            assertThat(started)
                    .anyMatch(process -> process.info()
                            .command()
                            .orElse("")
                            .equals(CPrograms.asked().toString()));
            if (end.equals("one request")) {
                Commands.check(List.of("kill", "-TERM", Long.toString(trace.pid())));
            } else {
                CtrlC.untilEnd(trace.pid());
            }
            assertThat(trace.waitFor()).isEqualTo(128 + (end.equals("one request") ? 15 : 2));
            for (ProcessHandle process : started) {
                Processes.awaitEnd(process.pid());
            }
        } finally {
            started.forEach(ProcessHandle::destroyForcibly);
            Processes.end(trace);
        }
    }
}
