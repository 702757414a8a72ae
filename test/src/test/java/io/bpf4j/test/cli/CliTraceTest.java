package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.PatchedNotes;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The command as a black box, where it loads and attaches: trace, load, features, demo. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@Timeout(600) // for what hangs
class CliTraceTest {
    /** One that the verifier refuses, one for a function of another program, and one that leaves a pin behind. */
    private static final Set<String> NOT_BY_THEMSELVES =
            Set.of("refused.bpf.o", "replacement.bpf.o", "pinned.bpf.o", "whole.bpf.o", "resizable.bpf.o");

    /** PID_MAX_LIMIT of include/linux/threads.h: the numbers of processes are below it. */
    private static final String NO_PROCESS = "4194304";

    private static Path folder = Path.of("/nonexistent");

    @BeforeAll
    static void makeFolder() throws IOException {
        folder = TargetProgram.temporaryFolder();
    }

    private static Path object(String name) throws IOException {
        return Files.write(folder.resolve(name), TestObjects.bytes(name));
    }

    @Test
    void aFileThatTheProcessHasNotMappedIsTold() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2")) {
            String pid = Long.toString(target.pid());
            String other = TargetProgram.compile("-O0").toString();
            Commands.Result result = Cli.run("trace", "-p", pid, other, "target:sizes", "--duration", "0.1");
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.err().lines())
                    .filteredOn(line -> line.contains("has not mapped"))
                    .containsExactly("bpf4j: process " + pid + " has not mapped " + other
                            + ": probes in this file fire only if the process maps it later");
        }
    }

    @Test
    void aProcessWithoutProbesIsNamed() throws IOException, InterruptedException {
        Process sleep = new ProcessBuilder("sleep", "1000").start();
        try (Processes.Ended _ = Processes.endAfterwards(sleep)) {
            ProcessState.awaitAsleep(sleep.pid(), "sleep");
            String expected = " of process " + sleep.pid() + " (sleep)";
            assertThat(Cli.fail("list", "-p", Long.toString(sleep.pid()))).contains("no USDT probes in ", expected);
            assertThat(Cli.fail("trace", "-p", Long.toString(sleep.pid()), "a:b"))
                    .contains("no USDT probes in ", expected);
        }
    }

    @Test
    void traceOfAProcessShowsArgumentsAndStringsAndEndsAfterCount() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace = new RunningTrace(
                        "trace",
                        "--json",
                        "-p",
                        Integer.toString(target.pid()),
                        "target:text",
                        "target:guarded",
                        "--str",
                        "0:1",
                        "--str",
                        "2",
                        "--count",
                        "2")) {
            trace.awaitMessage("tracing 2 probes at ");
            target.command("text hello bpf4j");
            target.command("text more");
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(lines.getFirst().toString()).contains("hello bpf4j", "text", Integer.toString(target.pid()));
            assertThat(result.out()).contains("\"hello\"").contains("\"more\"").contains("\"mo\"");
            assertThat(target.command("semaphores")).isEqualTo("0 0");
        }
    }

    /** A shell starts it, and most shells drop variables that they could not use themselves. */
    @Test
    void theCommandGetsVariablesWithAnyName() throws IOException, InterruptedException {
        List<String> names = List.of("spring.profiles.active", "9", "BASH_FUNC_called%%", "plain");
        List<String> command = new ArrayList<>(List.of("env", "-u", "LC_ALL"));
        names.forEach(name -> command.add(name + "=() {  echo; }"));
        command.add("BASH_ENV=" + Files.writeString(folder.resolve("started"), "echo read by a shell"));
        command.addAll(Cli.command("trace", "-c", "env", "target:sizes"));
        Commands.Result result = Commands.run(command);
        assertThat(result.out().lines().map(line -> line.split("=", 2)[0]))
                .containsAll(names)
                .doesNotContain("read by a shell");
        assertThat(result.err()).doesNotContain("environment variables");
    }

    @Test
    void aStringThatOnlySomeProbesHaveIsSaid() throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        Commands.Result trace = Cli.run(
                "trace",
                "--duration",
                "0.1",
                program.toString(),
                "target:text",
                "target:{guarded,lonely}",
                "--str",
                "2");
        assertThat(trace.exitCode()).as(trace.err()).isZero();
        List<String> lines = trace.err().lines().toList();
        assertThat(lines.getFirst())
                .matches("bpf4j: --str 2: target:(guarded|lonely) has \\d arguments? \\(and 1 more without it\\); "
                        + "its events are shown without this text");
        assertThat(lines.get(1)).contains("tracing 3 probes");
    }

    /** The library says so of a link, the command of a trace: such sites show in nothing else. */
    @Test
    void whatWillNotBeSeenIsSaid() throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        Path half = PatchedNotes.of(program)
                .own()
                .note("target", "guarded", "", 0x7000_0000_0000L, 0)
                .writeTo(folder.resolve("half"));
        Path without = Files.copy(Path.of("/bin/true"), folder.resolve("without"));
        Commands.Result trace =
                Cli.run("trace", "--duration", "0.1", half.toString(), without.toString(), "target:{guarded,lonely}");
        assertThat(trace.exitCode()).as(trace.err()).isZero();
        assertThat(trace.err())
                .contains(half + ": .note.stapsdt at 0x", "target:guarded is at 0x700000000000, outside of every")
                .contains("no USDT probes in " + without);
        Commands.Result strict =
                Cli.run("trace", "--strict", "--duration", "0.1", half.toString(), "target:{guarded,lonely}");
        assertThat(strict.exitCode()).isOne();
        assertThat(strict.err()).contains("target:guarded is at 0x700000000000", "strict");
        Commands.Result command = Cli.start("trace", "-c", half.toString(), "target$target:::lonely", "target:none");
        assertThat(command.exitCode()).as(command.err()).isZero();
        assertThat(command.err()).contains("no traced file has a probe target:none");
    }

    @Test
    void traceAsTextUntilInterrupted() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace =
                        new RunningTrace("trace", target.path().toString(), "target:sizes", "target:guarded")) {
            trace.awaitMessage("tracing 2 probes at ");
            target.command("sizes 3");
            trace.awaitEvents("target:sizes", 3);
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isEqualTo(0);
            assertThat(result.out().lines().filter(l -> l.contains("target:sizes")))
                    .hasSize(3)
                    .allSatisfy(line -> assertThat(line)
                            .contains("-5", "250", "-30000", "60000", "-2000000000", "4000000000", "42", "-7"));
            assertThat(result.out() + result.err())
                    .containsPattern("\\b3 events")
                    .contains("lost");
            assertThat(target.command("semaphores")).isEqualTo("0 0");
        }
    }

    /** A shell starts background jobs of scripts so; SIGHUP stays ignored, which is what nohup is for. */
    @Test
    void anIgnoredInterruptEndsATraceToo() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"));
        command.addAll(Cli.command("trace", TargetProgram.compile("-O2").toString(), "target:guarded"));
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace = new RunningTrace(command)) {
            trace.awaitMessage("tracing 1 probe at ");
            trace.signal("HUP");
            assertThat(target.command("semaphores")).doesNotStartWith("0");
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("0 events");
        }
    }

    @Test
    void theThreadsOfTheVirtualMachineAreNotAmongTheEvents() throws IOException, InterruptedException {
        try (TargetProgram target = TargetProgram.start("-O2");
                RunningTrace trace = new RunningTrace(
                        "trace", "--json", target.path().toString(), "target:sizes", "target:guarded")) {
            trace.awaitMessage("tracing 2 probes at ");
            trace.signal("QUIT");
            trace.awaitMessage("Full thread dump");
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(Json.lines(result.out())).hasSize(1);
        }
    }

    /** A JVM prints its warnings on standard output by default. */
    @Test
    void warningsOfTheJvmAreNotOnStandardOutput() throws IOException, InterruptedException {
        ProcessBuilder command = new ProcessBuilder(Cli.command("list", "--json", Java.path()));
        command.environment().put("JAVA_TOOL_OPTIONS", "-XX:+UseLargePages"); // none are reserved
        Commands.Result result = Commands.run(command);
        assertThat(result.err()).contains("[warning]");
        assertThat(result.out()).doesNotContain("[warning]");
    }

    @Test
    void traceOfAChildCommand() throws IOException, InterruptedException {
        Path program = TargetProgram.compile("-O2");
        Path input = Files.writeString(folder.resolve("commands"), "sizes 2\ntext x\nexit\n");
        ProcessBuilder command = new ProcessBuilder(
                        Cli.command("trace", "--json", "-c", program.toString(), "target:sizes"))
                .redirectInput(input.toFile());
        Commands.Result result = Commands.run(command);
        assertThat(result.exitCode()).as(result.err()).isZero();
        // The command's own output goes to standard error, so that this one is JSON only.
        assertThat(Json.lines(result.out()))
                .filteredOn(l -> "sizes".equals(l.get("name")))
                .hasSize(2);
        assertThat(result.out()).contains("{\"type\":\"end\",\"events\":2,\"lost\":0,\"exact\":true}");
    }

    @Test
    void traceEndsAfterItsDuration() throws IOException, InterruptedException {
        Commands.Result result =
                Cli.run("trace", TargetProgram.compile("-O2").toString(), "target:sizes", "--duration", "1");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out() + result.err()).contains("0 events");
    }

    @Test
    void whatCantBeTracedGivesOneLine() throws IOException, InterruptedException {
        String program = TargetProgram.compile("-O2").toString();
        assertThat(Cli.fail("trace", program, "target:gaurded")).contains("target:guarded");
        assertThat(Cli.fail("trace", folder + "/none", "target:sizes")).contains(folder + "/none");
        assertThat(Cli.fail("trace", folder.toString(), "target:sizes")).contains("directory");
        assertThat(Cli.fail("trace", "-p", NO_PROCESS, "target:sizes")).contains(NO_PROCESS);
    }

    @Test
    void withoutCapabilitiesTheMissingOneIsNamed() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("setpriv", "--bounding-set=-all", "--inh-caps=-all", "--"));
        command.addAll(
                Cli.command("trace", TargetProgram.compile("-O2").toString(), "target:sizes", "--duration", "1"));
        assertThat(Cli.oneLine(Commands.run(command), 1)).contains("CAP_");
    }

    @Test
    void loadTellsOneLineForEachObjectAndGoesOnAfterABadOne() throws IOException, InterruptedException {
        Path text = Files.writeString(folder.resolve("text.bpf.o"), "no ELF");
        Commands.Result result = Cli.run(
                "load",
                "--json",
                object("maps.bpf.o").toString(),
                object("refused.bpf.o").toString(),
                text.toString(),
                folder + "/none.bpf.o",
                object("trace.bpf.o").toString());
        assertThat(result.exitCode()).isEqualTo(1);
        List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
        assertThat(lines).extracting(l -> l.get("ok")).containsExactly(true, false, false, false, true);
        assertThat(lines).extracting(l -> l.get("stage")).contains("load", "open");
        assertThat(lines.get(1).get("stage")).isEqualTo("load");
        assertThat((String) lines.get(1).get("error")).contains("refused").contains("map_value_or_null");
        assertThat(lines.get(2).get("stage")).isEqualTo("open");
        assertThat(lines.get(3).get("stage")).isEqualTo("open");
        assertThat(result.err()).doesNotContain("\tat ");
    }

    @Test
    void everyObjectOfOursThatStandsAloneLoads() throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("load", "--json"));
        for (String name : TestObjects.names()) {
            if (!NOT_BY_THEMSELVES.contains(name)) {
                arguments.add(object(name).toString());
            }
        }
        List<Map<String, @Nullable Object>> lines = Json.lines(Cli.check(arguments.toArray(String[]::new)));
        assertThat(lines)
                .hasSize(TestObjects.names().size() - NOT_BY_THEMSELVES.size())
                .allSatisfy(l -> {
                    assertThat(l).containsEntry("ok", true);
                    assertThat(l).containsKeys("file", "programs", "maps");
                });
    }

    @Test
    void aRefusedObjectShowsTheLastLinesOfTheVerifier() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("load", object("refused.bpf.o").toString());
        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.out() + result.err())
                .contains("refused")
                .contains("R0 invalid mem access 'map_value_or_null'")
                .doesNotContain("\tat ");
    }

    @Test
    void featuresOfThisKernel() throws IOException, InterruptedException {
        List<Map<String, @Nullable Object>> features = Json.lines(Cli.check("features", "--json"));
        assertThat(features).hasSizeGreaterThan(5);
        assertThat(Cli.check("features")).containsIgnoringCase("uprobe").containsIgnoringCase("cookie");
        assertThat(Commands.run(Cli.command("features", "--types")).out())
                .containsPattern("xdp +yes +program type")
                .containsPattern("hash +yes +map type")
                .containsPattern("cgroup_inet_ingress +yes +attach type");
        assertThat(Cli.check("features", "--helpers", "socket_filter", "--json"))
                .contains("\"feature\":\"bpf_map_lookup_elem\",\"supported\":true")
                .contains("\"feature\":\"bpf_xdp_adjust_head\",\"supported\":false");
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void demoShowsEventsOfAJvmAndEndsByItself() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("demo", "--seconds", "3");
        assertThat(result.exitCode()).as(result.err()).isZero();
        String out = result.out();
        assertThat(out).contains("gc__begin", "class__loaded", "thread__start");
    }
}
