package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Answers without events, which say why. */
@Requires({BPF, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliNothingToSeeTest {
    /** With an argument: says so when it has a child, and both wait for the end of standard input. */
    private static final String PROGRAM = """
            #include <stdio.h>
            #include <sys/sdt.h>
            #include <unistd.h>
            __attribute__((noipa)) void never(void) { DTRACE_PROBE(nothing, never); }
            int main(int count, char **unused) {
                (void)unused;
                DTRACE_PROBE(nothing, begin);
                if (count > 1 && fork()) {
                    puts("forked");
                    fflush(stdout);
                }
                while (count > 1 && getchar() != EOF) {
                }
                if (count > 2) never();
                return 0;
            }
            """;

    @TempDir
    static Path folder;

    private static String program = "";
    private static String library = "";

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("nothing.c"), PROGRAM);
        program = folder + "/nothing";
        library = folder + "/never.so";
        Commands.check(List.of("gcc", "-o", program, source.toString()));
        Commands.check(List.of("gcc", "-shared", "-fPIC", "-Dmain=other", "-o", library, source.toString()));
    }

    @Test
    void functionsOfAFileThatTheCommandDoesNotMap() throws IOException, InterruptedException {
        Commands.Result alone = Cli.run("count", "-c", program, "u:" + library + ":never");
        assertThat(alone.exitCode()).as(alone.err()).isOne();
        assertThat(alone.err()).contains("no traced process was seen to map the file of u:never in " + library);
        Commands.Result more = Cli.run("count", "-c", program, "nothing:begin", "u:" + library + ":never");
        assertThat(more.exitCode()).as(more.err()).isZero();
        assertThat(more.err()).contains("no traced process was seen to map the file of u:never in " + library);
        Commands.Result mapped = Cli.run("count", "-c", program, "u:" + program + ":never");
        assertThat(mapped.exitCode()).as(mapped.err()).isZero();
        assertThat(mapped.err()).doesNotContain("was seen to map");
    }

    @Test
    void aTimeWithoutAnEnd() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("latency", "-c", program, "nothing:begin", "nothing:end");
        assertThat(result.exitCode()).as(result.err()).isOne();
        assertThat(result.err()).contains("no traced file has a probe nothing:end, so no time");
    }

    @Test
    void theChildrenOfAProcessMayHaveTheEvents() throws IOException, InterruptedException {
        Process parent = new ProcessBuilder(program, "forks").start();
        try (Processes.Ended _ = Processes.endAfterwards(parent)) {
            assertThat(parent.inputReader().readLine()).isEqualTo("forked");
            String pid = Long.toString(parent.pid());
            for (String command : List.of("trace", "count")) {
                assertThat(Cli.run(command, "--duration", "0.01", "-p", pid, "nothing:never")
                                .err())
                        .contains("no event came from process " + pid + ", which has child processes; --follow");
            }
            assertThat(Cli.run("count", "--duration", "0.01", "--follow", "-p", pid, "nothing:never")
                            .err())
                    .doesNotContain("child processes");
        }
    }

    /** The tests run in the folder of their module. */
    @Test
    void aFileWithTwoNamesIsComplainedOfOnce() throws IOException, InterruptedException {
        String relative = Path.of("").toAbsolutePath().relativize(folder.toAbsolutePath()) + "/never.so";
        Process parent = new ProcessBuilder(program, "forks").start();
        try (Processes.Ended _ = Processes.endAfterwards(parent)) {
            assertThat(parent.inputReader().readLine()).isEqualTo("forked");
            String pid = Long.toString(parent.pid());
            assertThat(Cli.run(
                                    "count",
                                    "--duration",
                                    "0.01",
                                    "-p",
                                    pid,
                                    "u:" + library + ":never",
                                    "u:" + relative + ":never")
                            .err())
                    .containsOnlyOnce("has not mapped");
        }
        Path without = Files.copy(Path.of("/bin/true"), folder.resolve("without"));
        String other = Path.of("")
                .toAbsolutePath()
                .relativize(without.toAbsolutePath())
                .toString();
        assertThat(Cli.run("trace", "--duration", "0.01", program, without.toString(), other, "nothing:never")
                        .err())
                .containsOnlyOnce("no USDT probes in");
    }
}
