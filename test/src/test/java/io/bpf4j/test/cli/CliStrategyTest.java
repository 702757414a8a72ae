package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.SitesProgram;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How {@code trace} attaches when told how, and how it ends where detaching takes long. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@Timeout(600) // for what hangs
class CliStrategyTest {

    @ParameterizedTest
    @CsvSource({"multi, MULTI", "cookie, COOKIE", "ipmap, IP_MAP"})
    void theStrategyThatIsAskedForIsTheOneThatIsUsed(String option, String shown)
            throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace = new RunningTrace(
                        "trace",
                        "-v",
                        "--strategy",
                        option,
                        "-p",
                        Integer.toString(target.pid()),
                        "target:text",
                        "target:guarded",
                        "--str",
                        "0:1",
                        "--count",
                        "1")) {
            trace.awaitMessage("tracing 2 probes at ");
            target.command("text hello bpf4j");
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("\"hello\"");
            assertThat(result.err()).contains("strategy " + shown);
            assertThat(target.command("semaphores")).isEqualTo("0 0");
        }
    }

    /** Without cookies a probe is known by its address; in a second mapping of its file it has another one. */
    @ParameterizedTest
    @CsvSource({
        "false, '1 event, 0 lost, 2 of no known probe'",
        "true, '{\"type\":\"end\",\"events\":1,\"lost\":0,\"unknown\":2,\"exact\":false,\"reason\":\"2 events of no known probe\"}'"
    })
    void eventsOfNoKnownProbeAreCountedAndShown(boolean json, String closing, @TempDir Path folder)
            throws IOException, InterruptedException {
        Path sources = TargetProgram.testModule().resolve("src/test/c/later");
        Path program = compiled(folder.resolve("twice"), sources.resolve("twice.c"));
        Path library = compiled(folder.resolve("liblater.so"), sources.resolve("library.c"), "-shared", "-fPIC");
        try (LineProcess target = new LineProcess(new ProcessBuilder(program.toString(), library.toString())) {};
                RunningTrace trace = new RunningTrace(
                        "trace",
                        json ? "--json" : "-v",
                        "--strategy",
                        "ipmap",
                        "--count",
                        "1",
                        "-p",
                        Integer.toString(target.pid()),
                        "later:library")) {
            trace.awaitMessage("tracing 1 probe at 1 site");
            target.command("fire");
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out().lines().toList())
                    .hasSize(2)
                    .satisfies(lines ->
                            assertThat(lines.getFirst()).contains("library").contains(json ? "\"args\":[1]" : "arg0=1"))
                    .last()
                    .isEqualTo(closing);
        }
    }

    private static Path compiled(Path to, Path source, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("gcc", "-Wall", "-Wextra", "-Werror", "-O2"));
        command.addAll(List.of(flags));
        command.addAll(List.of("-o", to.toString(), source.toString(), "-ldl"));
        Commands.check(command);
        return to;
    }

    @Test
    void anUnknownStrategyIsWrongUsage() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("trace", "--strategy", "fast", "-p", "1", "a:b");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--strategy", "fast", "is not auto, multi, cookie or ipmap");
    }

    @Test
    void whoPressesCtrlCTwiceLeavesAndAnotherProcessDetaches(@TempDir Path jvms)
            throws IOException, InterruptedException {
        // Two hundred: two descriptors each, of which containers give a thousand.
        try (SitesProgram target = SitesProgram.start(20, 10);
                RunningTrace trace = new RunningTrace(eachJvmIn(
                        jvms, "trace", "--strategy", "cookie", target.path().toString(), "sites:many"))) {
            trace.awaitMessage("tracing 1 probe at 200 sites");
            trace.interrupt();
            trace.awaitMessage("detaching ");
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("0 events, 0 lost");
            assertThat(result.err()).containsPattern("[0-9]+ of 200 are still attached: another process detaches them");
            List<Long> heirs = heirsOf(trace.pid(), jvms);
            assertThat(heirs).as("a process that has the rest").hasSize(1);
            // What is left takes it some seconds.
            Processes.awaitEnd(heirs.getFirst());
        }
    }

    /** The command; each JVM that it becomes or starts leaves a file with its number as name, even if it ends at once. */
    private static List<String> eachJvmIn(Path folder, String... arguments) {
        List<String> command = Cli.command(arguments);
        command.add(1, "-Xlog:os=warning:file=" + folder.resolve("%p"));
        return command;
    }

    private static List<Long> heirsOf(long trace, Path jvms) throws IOException {
        try (Stream<Path> files = Files.list(jvms)) {
            return files.map(file -> Long.valueOf(String.valueOf(file.getFileName())))
                    .filter(pid -> pid != trace)
                    .toList();
        }
    }
}
