package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HELD_COMMANDS;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.CallsJvm;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code bpf4j stack} of a program whose calls are known. */
@Requires({BPF, BPF_COOKIE, GCC, HELD_COMMANDS})
@Timeout(600) // for what hangs
class CliStackTest {
    /** How long a JVM may take to name its methods, in seconds: on a busy machine the usual second is short. */
    private static final String PATIENT = "300";

    @TempDir
    Path folder;

    @Test
    void callersAreNamedAfterTheProgramHasEnded() throws IOException, InterruptedException {
        Path svg = folder.resolve("stacks.svg");
        Path html = folder.resolve("stacks.html");
        Commands.Result result =
                ask(CPrograms.WALKABLE, "--folded", "--svg", svg.toString(), "--html", html.toString(), "u:probed");
        assertThat(result.out()).endsWith("main;outermost;middle_one;inner_static;probed 5\n");
        assertThat(result.err()).doesNotContain("frame pointers");
        assertThat(Files.readString(svg)).startsWith("<?xml").contains("data-name=\"outermost\"");
        assertThat(Files.readString(html)).startsWith("<!DOCTYPE html>").contains("data-name=\"outermost\"");
    }

    @Test
    void stacksWithoutFramePointersAreExplained() throws IOException, InterruptedException {
        Commands.Result result = ask("-fomit-frame-pointer", "u:probed");
        // The caller is at the return address; whoever called that is not known.
        assertThat(result.out().lines().map(String::strip))
                .containsSequence("probed", "inner_static", "[unknown]")
                .doesNotContain("outermost");
        assertThat(result.err()).contains("the stacks of 5 of 5 events end early", "-fno-omit-frame-pointer");
    }

    /** The kernel takes the caller of the caller for the caller, so that nothing in the stack shows what is missing. */
    @Test
    @Requires({SDT_H, X86_64})
    void aProbeInAFunctionWithoutAFrameLacksItsCallerAndTheAnswerSaysSo() throws IOException, InterruptedException {
        Path program = CPrograms.compile("frameless", "-O2", "-fno-omit-frame-pointer", "-momit-leaf-frame-pointer");
        Path page = folder.resolve("leaf.html");
        Commands.Result leaf =
                Cli.run("stack", "--json", "--html", page.toString(), "-c", program.toString(), "app:leaf");
        assertThat(leaf.out())
                .contains("[\"leaf\",\"outer\",\"main\"")
                .contains("\"kind\":\"left_out\",\"subject\":\"app:leaf\"", "lack the direct caller");
        assertThat(Files.readString(page)).contains("the stacks of app:leaf lack the direct caller");
        Commands.Result framed = Cli.run("stack", "--json", "-c", program.toString(), "app:framed");
        assertThat(framed.out()).contains("[\"caller\",\"outer\",\"main\"").doesNotContain("direct caller");
        // By the return address the function itself has it.
        Commands.Result function = Cli.run("stack", "--json", "-c", program.toString(), "u:leaf");
        assertThat(function.out())
                .contains("[\"leaf\",\"caller\",\"outer\",\"main\"")
                .doesNotContain("direct caller");
    }

    /** Each ends before its mappings could be read, but where the file was is known from the place of the probe. */
    @Test
    void processesThatHaveEndedHaveTheNamesOfTheFile() throws IOException, InterruptedException {
        Path program = CPrograms.compile("stacks", "-O2", CPrograms.WALKABLE);
        try (RunningTrace stacks = new RunningTrace("stack", program.toString(), "u:probed")) {
            stacks.awaitMessage("tracing 1 function");
            for (int i = 0; i < 3; i++) {
                Commands.check(List.of(program.toString(), "2"));
            }
            stacks.interrupt();
            Commands.Result result = stacks.await();
            assertThat(result.out().lines().map(String::strip))
                    .as("one row for all: %s", result.err())
                    .startsWith("6", "probed")
                    .containsSequence("inner_static", "middle_one", "outermost", "main")
                    .endsWith("6 events");
            assertThat(result.err())
                    .contains("3 processes ended before bpf4j looked up the names of their stacks: only functions");
        }
    }

    @Test
    void aProbeInUserSpaceHasNoStackInTheKernel() throws IOException, InterruptedException {
        assertThat(ask(CPrograms.WALKABLE, "--kernel", "u:probed").err()).contains("--kernel shows no stacks");
        assertThat(ask(CPrograms.WALKABLE, "--kernel", "--user", "--folded", "u:probed")
                        .out())
                .contains("outermost;");
    }

    /** When the question starts, they are not compiled yet. */
    @Test
    void methodsThatAJvmCompilesMeanwhileAreNamed() throws IOException, InterruptedException {
        try (CallsJvm jvm = new CallsJvm();
                RunningTrace stacks = new RunningTrace(
                        "stack",
                        "--jvm-names",
                        PATIENT,
                        "-p",
                        Integer.toString(jvm.pid()),
                        "u:_ZN2os13javaTimeNanosEv",
                        "--folded")) {
            assertCallsAreNamed(jvm, stacks);
        }
    }

    private static void assertCallsAreNamed(CallsJvm jvm, RunningTrace stacks)
            throws IOException, InterruptedException {
        stacks.awaitMessage("tracing 1 function");
        jvm.command("again");
        jvm.command("again");
        stacks.interrupt();
        Commands.Result result = stacks.await();
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("CallsMain.outerCall").contains("CallsMain.innerCall");
    }

    /** Nobody has named the JVM: it is one of those that run the file. */
    @Test
    void everyJvmThatIsTracedIsAskedForNames() throws IOException, InterruptedException {
        try (CallsJvm jvm = new CallsJvm();
                RunningTrace stacks = new RunningTrace(
                        "stack",
                        "--jvm-names",
                        PATIENT,
                        ChildJvm.libjvm().toString(),
                        "u:_ZN2os13javaTimeNanosEv",
                        "--where",
                        "pid == " + jvm.pid(),
                        "--folded")) {
            assertCallsAreNamed(jvm, stacks);
        }
    }

    /** It lived shorter than the question, so nobody could ask it. */
    @Test
    @Requires(HOTSPOT_PROBES)
    void aJvmThatHasEndedIsMentioned() throws IOException, InterruptedException {
        String java = String.join(" ", Java.command("-Xmx64m", "-version"));
        Commands.Result result = Cli.run("stack", "-c", java, "hotspot:vm__init__end", "hotspot:class__loaded");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err())
                .containsPattern("may have no names: process \\d+, a JVM, ended before it was asked for them");
    }

    @Test
    void aStackWithMoreFramesThanAreKeptSaysSo() throws IOException, InterruptedException {
        String program = CPrograms.compile("branches", "-O1", CPrograms.WALKABLE, "-fno-optimize-sibling-calls")
                .toString();
        Commands.Result deep = Cli.run("stack", "-c", program + " 3 200", "u:leaf", "--folded");
        assertThat(deep.out()).startsWith("[cut];even;even;").endsWith(";leaf 3\n");
        assertThat(deep.err()).contains("the stacks of 3 events are cut after the innermost 127 frames");
        Commands.Result flat = Cli.run("stack", "-c", program + " 3 20", "u:leaf", "--folded");
        assertThat(flat.out()).contains("main;even;").doesNotContain("[cut]");
        assertThat(flat.err()).doesNotContain(" cut ");
    }

    private static Commands.Result ask(String flag, String... arguments) throws IOException, InterruptedException {
        Path program = CPrograms.compile("stacks", "-O2", flag);
        String[] line = new String[arguments.length + 3];
        line[0] = "stack";
        line[1] = "-c";
        line[2] = program + " 5";
        System.arraycopy(arguments, 0, line, 3, arguments.length);
        Commands.Result result = Cli.run(line);
        assertThat(result.exitCode()).as(result.err()).isZero();
        return result;
    }
}
