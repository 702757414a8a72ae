package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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

    /** A sum of answers would take its zero for one that was counted. */
    @Test
    void aQuestionThatCouldNotBeAskedHasNoExactAnswer() throws IOException, InterruptedException {
        for (List<String> question : List.of(
                List.of("count", "nothing:other"),
                List.of("hist", "nothing:other", "--of", "arg0"),
                List.of("trace", "nothing:other"),
                List.of("count", "u:" + library + ":never"),
                List.of("latency", "nothing:begin", "nothing:end"))) {
            List<String> line = new ArrayList<>(question);
            line.addAll(List.of("-c", program, "--json"));
            Commands.Result result = Cli.run(line.toArray(String[]::new));
            assertThat(result.exitCode()).as(line + ": " + result.err()).isOne();
            Map<String, ?> end = Json.lines(result.out()).getLast();
            assertThat(end.get("exact")).as("%s", end).isEqualTo(false);
            assertThat(end.get("reason"))
                    .as("%s", end)
                    .asString()
                    .contains("nothing was attached for the question, or for a part of it");
        }
    }

    @Test
    void theChildrenOfAProcessMayHaveTheEvents() throws IOException, InterruptedException {
        Process parent = new ProcessBuilder(program, "forks").start();
        try (Processes.Ended _ = Processes.endAfterwards(parent)) {
            assertThat(parent.inputReader().readLine()).isEqualTo("forked");
            String pid = Long.toString(parent.pid());
            for (String command : List.of("trace", "count")) {
                String remark =
                        "no event came from process " + pid + ", which has child processes; --follow traces these, too";
                assertThat(Cli.run(command, "--duration", "0.01", "-p", pid, "nothing:never")
                                .err())
                        .containsOnlyOnce(remark);
                assertThat(remarks(Cli.run(command, "--duration", "0.01", "-p", pid, "nothing:never", "--json")))
                        .singleElement()
                        .isEqualTo(Map.of("kind", "left_out", "subject", "process " + pid, "message", remark));
            }
            assertThat(Cli.run("count", "--duration", "0.01", "--follow", "-p", pid, "nothing:never")
                            .err())
                    .doesNotContain("child processes");
        }
    }

    /** Its children have ended with it, so nobody can see whether it had any. */
    @Test
    void theChildrenOfACommandMayHaveHadTheEvents() throws IOException, InterruptedException {
        String remark = ", and not from child processes that it may have had; --follow traces these, too";
        assertThat(Cli.run("count", "-c", program, "nothing:never").err()).containsOnlyOnce(remark);
        assertThat(Cli.run("count", "-c", program, "--follow", "nothing:never").err())
                .doesNotContain("child processes");
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void aFlagThatAJvmLacksIsSaidOnce() throws IOException, InterruptedException {
        try (ChildJvm jvm = ChildJvm.start()) {
            String pid = Integer.toString(jvm.pid());
            for (String command : List.of("trace", "count")) {
                Commands.Result result =
                        Cli.run(command, "--duration", "0.01", "-p", pid, "hotspot:method__entry", "--json");
                assertThat(result.err()).containsOnlyOnce("won't fire: process " + pid + " was started without");
                assertThat(remarks(result)).singleElement().asString().contains("may_not_fire", "DTraceMethodProbes");
            }
            for (String more : List.of("--json", "-v")) {
                Commands.Result ofFile = Cli.run(
                        "count", "--duration", "0.01", more, ChildJvm.libjvm().toString(), "hotspot:method__entry");
                assertThat(ofFile.err()).containsOnlyOnce("fire only in a JVM that was started with");
            }
        }
    }

    private static List<?> remarks(Commands.Result result) {
        return (List<?>)
                Objects.requireNonNull(Json.lines(result.out()).getLast().get("remarks"), "remarks");
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
