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
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.SitesProgram;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How {@code trace} attaches when told how, and how it ends where detaching takes long. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
class CliStrategyTest {

    @ParameterizedTest
    @CsvSource({"multi, MULTI", "cookie, COOKIE", "ipmap, IP_MAP"})
    @Timeout(300)
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
            trace.awaitAttached(target);
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
        "true, '{\"type\":\"sums\",\"events\":1,\"lost\":0,\"unknown\":2}'"
    })
    @Timeout(300)
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
    @Timeout(120)
    void whoPressesCtrlCTwiceLeavesAndAnotherProcessDetaches() throws IOException, InterruptedException {
        // Two hundred: two descriptors each, of which containers give a thousand.
        try (SitesProgram target = SitesProgram.start(20, 10);
                RunningTrace trace = new RunningTrace(
                        "trace", "--strategy", "cookie", target.path().toString(), "sites:many")) {
            trace.awaitMessage("tracing 1 probe at 200 sites");
            trace.interrupt();
            trace.awaitMessage("detaching ");
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("0 events, 0 lost");
            assertThat(result.err()).containsPattern("[0-9]+ of 200 are still attached: another process detaches them");
            List<Path> heirs = heirsOf(trace.pid());
            assertThat(heirs).as("a process that has the rest").hasSize(1);
            // What is left would take it many seconds: that is its business, not this test's.
            Commands.run(List.of("kill", "-9", String.valueOf(heirs.getFirst().getFileName())));
        }
    }

    private static List<Path> heirsOf(int pid) throws IOException {
        List<Path> heirs = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                if (commandLine(process).endsWith("\0adopt\0" + pid + "\0")) {
                    heirs.add(process);
                }
            }
        }
        return heirs;
    }

    private static String commandLine(Path process) {
        try {
            return Files.readString(process.resolve("cmdline"));
        } catch (IOException e) {
            return ""; // It ended since the directory was read.
        }
    }
}
