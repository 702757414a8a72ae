package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A reader who reads slowly, but reads, gets the whole output of a trace that SIGTERM ends. */
@Requires({BPF, GCC, SDT_H})
@Timeout(1800) // for what hangs
class CliSlowReaderTest {
    /**
     * Reads from the descriptor that is to be its standard input: nothing until a line comes, then pages of a pipe with
     * pauses, for longer than a trace waits for a reader, and then the rest. The first block of the trace, 64 KiB, is in the
     * pipe, and the second in the write that is in progress.
     */
    private static final String READER = """
            read -r go <&3
            i=0
            while [ $i -lt 24 ]; do
                i=$((i+1))
                dd bs=4096 count=1 iflag=fullblock 2>/dev/null
                sleep 0.3
            done
            cat
            """;

    @TempDir
    static Path folder;

    @Test
    void theAnswerIsWhole() throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        // Of a pipe of its own Java would take what is left when the process ends.
        Path pipe = folder.resolve("pipe");
        Commands.check(List.of("mkfifo", pipe.toString()));
        // It fires until it is ended: how many of its events find room before the trace writes is not known.
        Process target = new ProcessBuilder(CPrograms.asked().toString(), "later", "1", "1000000000000").start();
        Process reader = new ProcessBuilder("sh", "-c", "exec 3<&0 <\"$0\"\n" + READER, pipe.toString())
                .redirectOutput(out.toFile())
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(target);
                Processes.Ended _ = Processes.endAfterwards(reader)) {
            ProcessState.awaitReadOfInput(target.pid());
            Process trace = new ProcessBuilder(
                            Cli.command("trace", "--buffer", "8KiB", "-p", Long.toString(target.pid()), "asked:fast"))
                    .redirectOutput(pipe.toFile())
                    .start();
            try (Processes.Ended _ = Processes.endAfterwards(trace)) {
                assertThat(trace.errorReader().readLine()).contains("tracing 1 probe");
                target.outputWriter().append('\n').flush();
                ProcessState.awaitBlockedWrite(trace.pid());
                Commands.check(List.of("kill", "-TERM", Long.toString(trace.pid())));
                reader.outputWriter().append('\n').flush();
                assertThat(trace.waitFor())
                        .as(() -> String.join("\n", trace.errorReader().lines().toList()))
                        .isZero();
                assertThat(reader.waitFor()).isZero();
            }
        }
        List<String> lines = Files.readAllLines(out);
        assertThat(lines.getLast()).contains(" events, ", " lost");
        assertThat(lines.stream().filter(line -> line.contains("asked:fast")).count())
                .isEqualTo(Long.parseLong(
                        lines.getLast().substring(0, lines.getLast().indexOf(' '))));
    }
}
