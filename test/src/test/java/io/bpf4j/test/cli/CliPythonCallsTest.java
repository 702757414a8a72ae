package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Calls of Python functions: the entries that CPython 3.11 does not report are missing in the answer, and it says so. A
 * program fires as the interpreter does, since the version of the installed one differs from machine to machine.
 */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliPythonCallsTest {
    private static final long CALLS = 1000;
    private static final long PROFILED = CALLS / 10;
    private static final String ENTRY = "python:function__entry";
    private static final String REASON = "which is CPython 3.11, fires only in threads with a profile";

    @TempDir
    static Path folder;

    private static Path version311() {
        return CPrograms.compile("python", "-O2");
    }

    private static Path version310() {
        return CPrograms.compile("python", "-O2", "-DVERSION=0x030a00f0");
    }

    private static Map<String, Object> end(Path python, String command, String... more)
            throws IOException, InterruptedException {
        List<String> line = new ArrayList<>(List.of(command, "--json", "-c", python + " " + CALLS));
        line.addAll(List.of(more));
        return Json.lines(Cli.run(line.toArray(String[]::new)).out()).getLast();
    }

    @Test
    void anAnswerWithoutMostEntriesIsNotExact() throws IOException, InterruptedException {
        for (String command : List.of("count", "trace")) {
            Map<String, Object> end = end(version311(), command, ENTRY);
            assertThat(end).as(command).containsEntry("events", PROFILED).containsEntry("exact", false);
            assertThat(end.get("reason")).as(command).asString().contains(ENTRY + " of ", REASON);
            assertThat(end.get("gaps")).as(command).asString().contains("inexact", ENTRY);
        }
    }

    @Test
    void eachFormOfAnAnswerSaysSo() throws IOException, InterruptedException {
        Path page = folder.resolve("calls.html");
        Path picture = folder.resolve("calls.svg");
        Commands.Result result = Cli.run(
                "count", "--html", page.toString(), "--svg", picture.toString(), "-c", version311() + " 10", ENTRY);
        assertThat(result.out()).contains(REASON);
        assertThat(Files.readString(page)).contains(REASON);
    }

    @Test
    void whatFiresForEachCallIsExact() throws IOException, InterruptedException {
        assertThat(end(version311(), "count", "python:function__return"))
                .containsEntry("events", CALLS)
                .containsEntry("exact", true);
        assertThat(end(version311(), "count", ENTRY, "python:line"))
                .as("a line for each call")
                .containsEntry("events", 2 * CALLS)
                .containsEntry("exact", true);
        assertThat(end(version310(), "count", ENTRY))
                .containsEntry("events", CALLS)
                .containsEntry("exact", true);
    }

    /** Who waits for the first event of a process needs to know. */
    @Test
    void itIsSaidAtOnceOfAProcess() throws IOException, InterruptedException {
        Process python = new ProcessBuilder(version311().toString(), "0", "wait").start();
        try (Processes.Ended _ = Processes.endAfterwards(python)) {
            ProcessState.awaitReadOfInput(python.pid());
            try (RunningTrace trace = new RunningTrace("trace", "-p", Long.toString(python.pid()), ENTRY)) {
                trace.awaitMessage(REASON);
                trace.interrupt();
                assertThat(trace.await().out()).contains("0 events", REASON);
            }
        }
    }

    /** The files of all processes, and a program that prints nothing. */
    @Test
    void theLibrarySaysSo() throws IOException, InterruptedException {
        Path python = version311();
        try (Answer answer =
                Question.on(UsdtScan.ofFile(python).matching(ENTRY)).open()) {
            Commands.check(List.of(python.toString(), Long.toString(CALLS)));
            assertThat(answer.rows())
                    .singleElement()
                    .extracting(Answer.Row::count)
                    .isEqualTo(PROFILED);
            assertThat(answer.isExact()).isFalse();
            assertThat(answer.reasonsForGaps()).singleElement().satisfies(gap -> {
                assertThat(gap.kind()).isEqualTo(Diagnostic.Kind.INEXACT);
                assertThat(gap.subject()).isEqualTo(ENTRY);
                assertThat(gap.message()).contains(python.toString(), REASON, "python:line", "python:function__return");
            });
        }
    }
}
