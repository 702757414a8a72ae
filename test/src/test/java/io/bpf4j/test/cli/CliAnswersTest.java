package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Patience;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers at full speed, and how they end: with the program, by Ctrl-C, or because nobody reads any more. */
@Requires({BPF, GCC, HELD_COMMANDS, SDT_H})
@Timeout(1800) // for what hangs: ten million events take minutes where others want the processors
class CliAnswersTest {
    /** A tenth on an emulated processor. */
    private static final long TWO_MILLION = Patience.fewer(2_000_000);

    @TempDir
    static Path folder;

    private static Path program;

    @BeforeAll
    static void compile() {
        program = CPrograms.asked();
    }

    private static List<Map<String, @Nullable Object>> lines(String... question)
            throws IOException, InterruptedException {
        Commands.Result result = Cli.run(question);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return Json.lines(result.out());
    }

    @Test
    void noneOfTwoMillionEventsIsLostByACount() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines = lines(
                "count",
                "--json",
                "-c",
                program + " values " + TWO_MILLION,
                "asked:value",
                "--by",
                "str(arg1)",
                "--where",
                "arg0 >= 0");
        assertThat(lines).hasSize(4);
        assertThat(lines.subList(0, 3))
                .extracting(line -> line.get("count"))
                .containsExactly((TWO_MILLION + 2) / 3, (TWO_MILLION + 1) / 3, TWO_MILLION / 3);
        assertThat(Json.withoutQuestion(lines.getLast()))
                .isEqualTo(Map.of("type", "end", "events", TWO_MILLION, "lost", 0L, "exact", true));
    }

    @Test
    void noneOfTwoMillionEventsIsLostByAHistogram() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> lines =
                lines("hist", "--json", "-c", program + " values " + TWO_MILLION, "asked:value", "--of", "arg0");
        assertThat(lines.getFirst())
                .containsEntry("count", TWO_MILLION)
                .containsEntry("min", 0L)
                .containsEntry("max", TWO_MILLION - 1)
                .containsEntry("sum", TWO_MILLION * (TWO_MILLION - 1) / 2);
        assertThat(Json.withoutQuestion(lines.getLast()))
                .isEqualTo(Map.of("type", "end", "events", TWO_MILLION, "lost", 0L, "exact", true));
    }

    @Test
    void aFoldedStackIsTheCallTree() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("stack", "--folded", "-c", program + " tree 5000", "asked:leaf");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out().lines().filter(line -> line.contains(";")))
                .as(result.out())
                .singleElement()
                .satisfies(line -> assertThat(line).endsWith("main;top;middle;leaf 5000"));
        assertThat(result.out().lines()).as("nothing but stacks").allMatch(line -> line.contains(";"));
        assertThat(result.err()).contains("5000 events");
    }

    @Test
    void aTableOfTheMostFrequentEndsWithAllCounts() throws IOException, InterruptedException {
        // The run ends after the first table.
        Path first = Files.createFile(folder.resolve("first-table"));
        String run = "sh -c '" + program + " values 1000; while [ -e " + first + " ]; do sleep 0.1; done; " + program
                + " values 999000'";
        try (RunningTrace top =
                new RunningTrace("top", "--follow", "-c", run, "asked:value", "--by", "str(arg1)", "--every", "0.01")) {
            top.awaitEvents("EVENTS/S  str(arg1)", 1);
            Files.delete(first);
            assertThat(top.await().out())
                    .startsWith("EVENTS/S  str(arg1)\n")
                    .endsWith("COUNT   str(arg1)\n333334  red\n333333  blue\n333333  green\n1000000 events\n");
        }
    }

    /** The kernel attaches to one site after the other, and detaches likewise, while they fire all the time. */
    @Test
    void allProbesAreCountedOverTheSameTime() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("turns.c"), """
            #include <sys/sdt.h>
            int main(void) {
                for (;;) {
                    DTRACE_PROBE(turns, first);
                    DTRACE_PROBE(turns, second);
                    DTRACE_PROBE(turns, third);
                    DTRACE_PROBE(turns, fourth);
                }
            }
            """);
        Path turns = folder.resolve("turns");
        Commands.check(List.of("gcc", "-O1", "-o", turns.toString(), source.toString()));
        Process running = new ProcessBuilder(turns.toString()).start();
        try (Processes.Ended _ = Processes.endAfterwards(running)) {
            String pid = Long.toString(running.pid());
            List<Map<String, @Nullable Object>> lines =
                    interrupted("\"turns:fourth\"", "count", "-p", pid, "turns:*", "--by", "probe");
            List<Long> counts = lines.subList(lines.size() - 5, lines.size() - 1).stream()
                    .map(line -> (Long) Objects.requireNonNull(line.get("count")))
                    .toList();
            assertThat(counts.getFirst() - counts.getLast())
                    .as(counts.toString())
                    .isBetween(0L, 1L);
            lines = interrupted("\"count\":", "latency", "-p", pid, "turns:third", "turns:first");
            assertThat(lines.getLast()).doesNotContainKey("unpaired_begins");
        }
    }

    /** The lines of a question that is ended by Ctrl-C once it has printed this: the answers so far, and the last one. */
    private static List<Map<String, @Nullable Object>> interrupted(String awaited, String... question)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(question));
        line.addAll(List.of("--json", "--every", "0.05"));
        try (RunningTrace running = new RunningTrace(line.toArray(String[]::new))) {
            running.awaitEvents(awaited, 1);
            running.interrupt();
            Commands.Result result = running.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            return Json.lines(result.out());
        }
    }

    @Test
    @Requires(BPF_COOKIE)
    void ctrlCEndsAQuestionWithItsAnswer() throws IOException, InterruptedException {
        try (RunningTrace count =
                new RunningTrace("count", "--json", program.toString(), "asked:value", "--by", "pid")) {
            count.awaitMessage("tracing 1 probe");
            Process values = new ProcessBuilder(program.toString(), "values", "30").start();
            try (Processes.Ended _ = Processes.endAfterwards(values)) {
                assertThat(values.waitFor()).isZero();
            }
            count.interrupt();
            Commands.Result result = count.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Json.lines(result.out()))
                    .isEqualTo(List.of(
                            Map.of("type", "row", "key", Map.of("pid", values.pid()), "count", 30L),
                            Map.of(
                                    "type",
                                    "end",
                                    "events",
                                    30L,
                                    "lost",
                                    0L,
                                    "exact",
                                    true,
                                    "question",
                                    Map.of("probes", List.of("asked:value")))));
        }
    }

    @Test
    @Requires(BPF_COOKIE)
    void aFileThatIsReplacedMeanwhile(@TempDir Path own) throws IOException, InterruptedException {
        Path file = Files.copy(program, own.resolve("asked"), StandardCopyOption.COPY_ATTRIBUTES);
        try (RunningTrace count = new RunningTrace("count", "--json", file.toString(), "asked:value")) {
            count.awaitMessage("tracing 1 probe");
            Commands.check(List.of(file.toString(), "values", "20"));
            Path next = Files.copy(program, own.resolve("next"), StandardCopyOption.COPY_ATTRIBUTES);
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
            Commands.check(List.of(file.toString(), "values", "30"));
            count.interrupt();
            assertThat(Json.lines(count.await().out()).getLast())
                    .containsEntry("events", 20L)
                    .containsEntry("exact", false)
                    .hasEntrySatisfying(
                            "reason",
                            reason -> assertThat(reason).asString().startsWith(file + " was replaced at about "));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"FILE asked:value", "usdt:FILE:asked:value"})
    @Requires(BPF_COOKIE)
    void aFileThatIsReplacedWhileACommandIsFollowed(String probe, @TempDir Path own)
            throws IOException, InterruptedException {
        Path file = Files.copy(program, own.resolve("asked"), StandardCopyOption.COPY_ATTRIBUTES);
        Path next = Files.copy(program, own.resolve("next"), StandardCopyOption.COPY_ATTRIBUTES);
        Path script = Files.writeString(
                own.resolve("script"), file + " values 20\nmv " + next + " " + file + "\n" + file + " values 30\n");
        List<String> line = new ArrayList<>(List.of("count", "--json", "-c", "sh " + script, "--follow"));
        line.addAll(List.of(probe.replace("FILE", file.toString()).split(" ", -1)));
        assertThat(lines(line.toArray(String[]::new)).getLast())
                .containsEntry("events", 50L)
                .containsEntry("exact", true);
    }

    @Test
    @Requires(BPF_COOKIE)
    void filesThatAppearLaterAreNoneOfAllFiles() throws IOException, InterruptedException {
        Process values = new ProcessBuilder(program.toString(), "pairs", "1000000000", "1000").start();
        try (Processes.Ended _ = Processes.endAfterwards(values);
                RunningTrace count = new RunningTrace("count", "--all", "asked:end")) {
            count.awaitMessage("--all selects the files that processes have mapped so far");
        }
    }

    /** Such as the child of a script that waits for its children at its own end. */
    @Test
    @Requires(BPF_COOKIE)
    void aQuestionEndsWithAProcessForWhichItsParentDoesNotWait() throws IOException, InterruptedException {
        Process parent = new ProcessBuilder(
                        "sh", "-c", program + " pairs 1000000000 1000 >/dev/null & echo $!; exec sleep 1000")
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(parent)) {
            String pid = parent.inputReader(StandardCharsets.US_ASCII).readLine();
            // Until then it is a shell.
            ProcessState.awaitAsleep(Long.parseLong(pid), "asked");
            try (RunningTrace count = new RunningTrace("count", "-p", pid, "asked:end")) {
                count.awaitMessage("tracing 1 probe");
                Commands.check(List.of("kill", "-KILL", pid));
                Commands.Result result = count.await();
                assertThat(result.exitCode()).as(result.err()).isZero();
            }
        }
    }

    @Test
    @Requires(BPF_COOKIE)
    void anAnswerIsPrintedAgainAndAgainUntilCtrlC() throws IOException, InterruptedException {
        try (RunningTrace count =
                new RunningTrace("count", "--json", program.toString(), "asked:value", "--every", "0.05")) {
            count.awaitMessage("tracing 1 probe");
            Commands.check(List.of(program.toString(), "values", "30"));
            count.awaitEvents("\"count\":30}", 3);
            count.interrupt();
            assertThat(Json.lines(count.await().out()).getLast()).containsEntry("events", 30L);
        }
    }

    @Test
    void aProbeThatACommandLacksIsExplained() throws IOException, InterruptedException {
        assertThat(Cli.run("count", "-c", program + " values 1", "asked:valeu").err())
                .contains(
                        "no probe asked:valeu in the command or in the libraries that it loaded; no probe asked:valeu in ",
                        "; the nearest is asked:value;")
                .contains("; --follow traces its child processes, too");
        assertThat(Cli.run("count", "--follow", "-c", program + " values 1", "asked:valeu")
                        .err())
                .doesNotContain("--follow");
    }

    /** As {@code bpf4j … | head -1} has it, which also must not leave the program that it started behind. */
    @Test
    void aReaderThatHasEnoughEndsTheCommandQuietly() throws IOException, InterruptedException {
        for (List<String> question : List.of(
                List.of("trace", "asked:value", "--show", "arg0,pid"),
                List.of("count", "asked:value", "--by", "pid", "--every", "0.01"),
                List.of("top", "asked:value", "--by", "pid", "--every", "0.01"))) {
            Path err = Files.createTempFile(folder, "closed", ".err");
            List<String> line = Cli.command(question.toArray(String[]::new));
            line.addAll(List.of("-c", program + " values 2000000000"));
            Process command =
                    new ProcessBuilder(line).redirectError(err.toFile()).start();
            try (Processes.Ended _ = Processes.endAfterwards(command)) {
                try (BufferedReader out = command.inputReader()) {
                    assertThat(out.readLine()).isNotBlank();
                }
                assertThat(command.waitFor()).as(Files.readString(err)).isZero();
                assertThat(Files.readAllLines(err))
                        .as(question.toString())
                        .allSatisfy(said -> assertThat(said).startsWith("bpf4j: tracing 1 probe at "));
            }
        }
    }
}
