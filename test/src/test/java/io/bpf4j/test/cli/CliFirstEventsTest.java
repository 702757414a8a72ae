package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.FirstProgram;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No first event is missed. A race that is lost once in fifty runs needs a hundred to show: {@code
 * -Dbpf4j.first.runs=100} is the long form.
 */
@Requires({BPF, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliFirstEventsTest {
    private static final int RUNS = Integer.getInteger("bpf4j.first.runs", 3);

    @TempDir
    static Path folder;

    private static FirstProgram first;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        first = FirstProgram.compile(folder);
        FirstProgram.script(folder.resolve("becomes"), "exec " + first.program() + " fire 1000");
        FirstProgram.script(
                folder.resolve("runs"),
                first.program() + " fire 400 & " + first.program() + " vfork 200",
                "(" + first.program() + " fire 400)",
                "wait");
    }

    /** Commands that fire a thousand times; PROGRAM, LIBRARY and FOLDER stand for what was made. */
    @ParameterizedTest
    @CsvSource({
        "direct, false, PROGRAM fire 1000",
        "env, false, env X=1 PROGRAM fire 1000",
        "script that becomes it, false, FOLDER/becomes",
        "script that runs it, true, FOLDER/runs",
        "20 forks, true, PROGRAM fork 20 50",
        "execs, false, PROGRAM exec 5 1000",
        "execs of other threads, false, PROGRAM thread-exec 5 1000",
        "constructor, false, PROGRAM dlopen LIBRARY",
        "constructor in a child, true, 'sh -c \"true; PROGRAM dlopen LIBRARY; true\"'",
        "needed library, false, env LD_PRELOAD=LIBRARY sleep 0",
        "job control, true, PROGRAM parent PROGRAM fire 1000",
        "stopped by itself, true, PROGRAM restarts PROGRAM stops 1000"
    })
    @Timeout(3600)
    void aThousandOfAThousand(String name, boolean follow, String command) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("trace", "--json", "-c", filled(command), "first:*"));
        if (follow) {
            arguments.add("--follow");
        }
        for (int run = 1; run <= RUNS; run++) {
            Commands.Result result = Cli.run(arguments.toArray(String[]::new));
            assertSum(result, 1000, name + ", run " + run);
        }
    }

    /** The same file comes to other addresses with each exec, and has its parent's after a fork. */
    @ParameterizedTest
    @EnumSource(Strategy.class)
    void byEachStrategy(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        for (String how : List.of("fire 1000", "exec 3 1000", "thread-exec 3 1000", "fork 20 50")) {
            Commands.Result result = Cli.run(
                    "trace",
                    "--json",
                    "--follow",
                    "--strategy",
                    strategy.option(),
                    "-c",
                    first.program() + " " + how,
                    "first:*");
            assertSum(result, 1000, strategy + " " + how);
        }
    }

    private static String filled(String command) {
        return command.replace("PROGRAM", first.program().toString())
                .replace("LIBRARY", first.library().toString())
                .replace("FOLDER", folder.toString());
    }

    private static void assertSum(Commands.Result result, long events, String what) {
        assertThat(result.exitCode()).as(what + ": " + result.err()).isZero();
        Map<String, @Nullable Object> sum = Json.lines(result.out()).getLast();
        assertThat(sum)
                .as(what + ": " + result.err())
                .containsEntry("events", events)
                .containsEntry("lost", 0L)
                .containsEntry("exact", true);
    }

    /** The kernel sends SIGHUP and SIGCONT to a process group that is orphaned while a process in it is stopped. */
    @Test
    @Timeout(3600)
    void theScriptThatStartedTheTraceIsGone() throws IOException, InterruptedException {
        for (int run = 1; run <= RUNS; run++) {
            Path out = Files.createFile(folder.resolve("orphan-" + run + ".out"));
            List<String> command =
                    new ArrayList<>(List.of("setsid", "sh", "-c", "\"$@\" >" + out + " 2>&1 & echo $!", "sh"));
            command.addAll(Cli.command("trace", "--json", "-c", first.program() + " fire 1000", "first:*"));
            Processes.awaitEnd(Long.parseLong(Commands.check(command).strip()));
            String text = Files.readString(out);
            assertThat(text.lines().toList().getLast())
                    .as(text.lines().filter(line -> !line.startsWith("{")).toList() + ", run " + run)
                    .startsWith("{\"type\":\"end\",\"events\":1000,\"lost\":0,\"exact\":true");
        }
    }

    /** A library that a running process loads later, and what a child of it does. */
    @Test
    void aProcessThatRunsAlready() throws IOException, InterruptedException {
        try (Late late = new Late();
                RunningTrace trace = new RunningTrace("trace", "--follow", "--json", "-p", late.pid(), "first:*")) {
            trace.awaitMessage("tracing 1 probe at 1 site"); // that of the program itself, which does not fire
            late.load();
            assertSum(trace.await(), 1000, "late");
        }
    }

    /** A process that runs already, and loads the library later. */
    private static final class Late implements AutoCloseable {
        private final Process process;

        Late() throws IOException, InterruptedException {
            process = new ProcessBuilder(
                            first.program().toString(), "late", first.library().toString())
                    .start();
            ProcessState.awaitReadOfInput(process.pid());
        }

        String pid() {
            return Long.toString(process.pid());
        }

        void load() throws IOException {
            process.outputWriter().append('\n').close();
        }

        @Override
        public void close() {
            Processes.end(process);
        }
    }

    /** Where a thread can't be held, the events of the library may be missing, and the sums say so. */
    @Test
    void aThreadThatBlocksTheSignalIsReported() throws IOException, InterruptedException {
        // The process ends with it, however late its library is found.
        Path mark = Files.createFile(folder.resolve("blocked"));
        String command = first.program() + " blocked " + first.library() + " " + mark;
        try (RunningTrace trace = new RunningTrace("trace", "--json", "-c", command, "first:library")) {
            trace.awaitMessage("tracing 1 probe");
            Files.delete(mark);
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Json.lines(result.out()).getLast()).containsEntry("exact", false);
            assertThat(result.out()).contains("SIGURG blocked");
        }
    }

    /** A process has one tracer at a time: who comes second looks, and says so. */
    @Test
    void aProcessThatAnotherTracesIsLookedAt() throws IOException, InterruptedException {
        try (Late late = new Late();
                RunningTrace holding = new RunningTrace("trace", "--follow", "--json", "-p", late.pid(), "first:*")) {
            holding.awaitMessage("tracing 1 probe at 1 site");
            try (RunningTrace looking = new RunningTrace("trace", "--follow", "--json", "-p", late.pid(), "first:*")) {
                looking.awaitMessage("tracing 1 probe at 1 site");
                late.load();
                assertSum(holding.await(), 1000, "the first");
                Commands.Result second = looking.await();
                assertThat(Json.lines(second.out()).getLast()).containsEntry("exact", false);
                assertThat(second.out()).contains("another process traces it");
            }
        }
    }

    @Test
    void holdingNobodyIsSaidInTheSums() throws IOException, InterruptedException {
        String command = first.program() + " fire 1000";
        Commands.Result json = Cli.run("trace", "--no-hold", "--json", "-c", command, "first:*");
        assertThat(json.exitCode()).as(json.err()).isZero();
        assertThat(Json.lines(json.out()).getLast())
                .containsEntry("exact", false)
                .containsEntry("events", 1000L);
        Commands.Result text = Cli.run("trace", "--no-hold", "-c", command, "first:*");
        assertThat(text.out())
                .contains("1000 events, 0 lost; not exact: processes are polled"
                        + " every few milliseconds instead of being held");
        assertThat(Cli.run("trace", "--no-hold", "-p", "1", "a:b").err()).contains("--no-hold needs -c or --follow");
    }

    /** Also a file that the process maps later. */
    @Test
    void aFileAndAProcessMeanThisFileInThisProcess() throws IOException, InterruptedException {
        String library = first.library().toString();
        try (Late late = new Late();
                RunningTrace trace = new RunningTrace("trace", "--json", "-p", late.pid(), library, "first:*")) {
            trace.awaitMessage("tracing 1 probe at 1 site");
            Commands.check(List.of(first.program().toString(), "dlopen", library)); // another process
            late.load();
            Commands.Result result = trace.await();
            assertThat(Json.lines(result.out()).getLast()).containsEntry("events", 1000L);
        }
    }

    /** A pager that waits for its user must not stop what is traced: attaching goes on while printing waits. */
    @Test
    void outputThatNobodyReadsHoldsNobody() throws IOException, InterruptedException {
        Path mark = folder.resolve("mark");
        Path script = FirstProgram.script(
                folder.resolve("marks"),
                first.program() + " fork 20 500", // far more than a pipe holds
                first.program() + " dlopen " + first.library(),
                "echo done > " + mark);
        Process trace = new ProcessBuilder(
                        Cli.command("trace", "--json", "--follow", "-c", script.toString(), "first:*"))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (Processes.Ended _ = Processes.endAfterwards(trace)) {
            Await.until("the script has ended, or the trace", () -> Files.exists(mark) || !trace.isAlive());
            assertThat(mark).exists();
        }
    }

    /** HotSpot fires class__loaded for each class that it logs as loaded, those of its shared archive included. */
    @Test
    @Requires(HOTSPOT_PROBES)
    @Timeout(3600)
    void aJvmReportsEachClassThatItLogs() throws IOException, InterruptedException {
        String java = Java.path();
        for (int run = 1; run <= RUNS; run++) {
            Path log = folder.resolve("classes-" + run + ".log");
            Commands.Result result = Cli.run(
                    "trace",
                    "--json",
                    "-c",
                    java + " -Xlog:class+load:file=" + log + " -version",
                    "hotspot:class__loaded");
            long logged = Files.readAllLines(log).stream()
                    .filter(line -> line.contains(" source: "))
                    .count();
            assertThat(logged).isGreaterThan(100);
            assertSum(result, logged, "java -version, run " + run);
        }
    }

    @Test
    void aFileAndACommandMeanThisFileInThisCommand() throws IOException, InterruptedException {
        Path other = Files.copy(first.program(), folder.resolve("other"));
        String both = "sh -c '" + other + " fire 10; " + first.program() + " fire 30; true'";
        Commands.Result result = Cli.run(
                "trace", "--follow", "--json", "-c", both, first.program().toString(), "first:program");
        assertSum(result, 30, "file");

        Commands.Result untraced = Cli.run(
                "trace",
                "--json",
                "-c",
                first.program() + " parent " + other + " fire 10",
                other.toString(),
                "first:*");
        assertThat(untraced.exitCode()).isEqualTo(1);
        assertThat(untraced.err()).contains("no probe first:* in the command or in the libraries that it loaded");
    }
}
