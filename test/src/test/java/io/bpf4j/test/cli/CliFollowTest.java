package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.ASSEMBLER;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.READELF;
import static io.bpf4j.test.support.Requirement.REAL_TIME;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static io.bpf4j.test.support.Requirement.UPROBE_MULTI;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Json;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.bpf4j.test.support.TargetProgram;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
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

/** Probes that were not there when the trace began. */
@Requires({BPF, UPROBE_MULTI, GCC, SDT_H, ASSEMBLER})
@Timeout(600) // for what hangs
class CliFollowTest {
    @TempDir
    static Path folder;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path sources = TargetProgram.testModule().resolve("src/test/c/later");
        Commands.check(List.of(
                "gcc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O2",
                "-o",
                program().toString(),
                sources.resolve("main.c").toString(),
                "-ldl"));
        Commands.check(List.of(
                "gcc",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-O2",
                "-shared",
                "-fPIC",
                "-o",
                library().toString(),
                sources.resolve("library.c").toString()));
        Files.copy(program(), other());
    }

    private static Path program() {
        return folder.resolve("later");
    }

    private static Path library() {
        return folder.resolve("liblater.so");
    }

    private static Path other() {
        return folder.resolve("later-other");
    }

    private static Path compiled(String name, String source) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve(name + ".c"), source);
        Path program = folder.resolve(name);
        Commands.check(List.of("gcc", "-O2", "-o", program.toString(), file.toString()));
        return program;
    }

    private static Process started() throws IOException {
        return new ProcessBuilder(program().toString(), library().toString(), other().toString())
                .redirectErrorStream(true)
                .start();
    }

    /** A name may be misspelled, or belong to a library that is loaded later: nobody has to wait for the end to know. */
    @Test
    void whatIsNotThereYetIsSaidAtOnce() throws IOException, InterruptedException {
        Process target = started();
        try (Processes.Ended _ = Processes.endAfterwards(target);
                RunningTrace trace = whenItReads(
                        target,
                        "trace",
                        "--follow",
                        "--count",
                        "1",
                        "-p",
                        Long.toString(target.pid()),
                        "later:librar?")) {
            assertThat(trace.message("nothing is attached yet"))
                    .contains("process " + target.pid(), "later:librar?", "waiting for one; Ctrl-C ends");
            Writer input = target.outputWriter(StandardCharsets.UTF_8);
            input.write("dlopen\n");
            input.flush();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            assertThat(result.out()).contains("later:library");
        }
    }

    /** The command is shown the same, when it has had time to load its libraries. */
    @Test
    void whatACommandLacksIsSaidWhileItRuns() throws IOException, InterruptedException {
        try (RunningTrace trace =
                new RunningTrace("count", "-c", program() + " " + library() + " " + other(), "later:progam")) {
            assertThat(trace.message("nothing is attached yet"))
                    .contains("the command", "later:progam", "the nearest is", "later:program", "Ctrl-C ends");
            trace.interrupt();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).isEqualTo(1);
            assertThat(result.err())
                    .contains("no probe later:progam in the command or in the libraries that it loaded");
        }
    }

    /** The probe that a command brings into being, of the process itself or of a child. */
    @ParameterizedTest
    @CsvSource({
        "dlopen, later:library, false",
        "memfd, later:library, false",
        "fork, later:program, true",
        "exec, later:program, true"
    })
    void whatAppearsIsAttached(String command, String probe, boolean inChild) throws IOException, InterruptedException {
        Process target = started();
        try (Processes.Ended _ = Processes.endAfterwards(target);
                RunningTrace trace = whenItReads(
                        target,
                        "trace",
                        "--follow",
                        "--json",
                        "--count",
                        "5",
                        "-p",
                        Long.toString(target.pid()),
                        "later:*")) {
            trace.awaitMessage("tracing 1 probe at 1 site");
            Writer input = target.outputWriter(StandardCharsets.UTF_8);
            input.write(command + "\n");
            input.flush();
            Commands.Result result = trace.await();
            assertThat(result.exitCode()).as(result.err()).isZero();
            List<Map<String, @Nullable Object>> lines = Json.lines(result.out());
            assertThat(lines).hasSize(6);
            assertThat(lines.subList(0, 5)).allSatisfy(line -> {
                assertThat(line.get("provider") + ":" + line.get("name")).isEqualTo(probe);
                assertThat(!Long.toString(target.pid()).equals(String.valueOf(line.get("pid"))))
                        .as("in a child")
                        .isEqualTo(inChild);
            });
        }
    }

    /** A trace of a process that runs already, and waits for its input. */
    private static RunningTrace whenItReads(Process target, String... arguments)
            throws IOException, InterruptedException {
        ProcessState.awaitReadOfInput(target.pid());
        return new RunningTrace(arguments);
    }

    @Test
    void aCommandIsFollowedIntoItsChildrenAndTheTraceEndsWithTheLast() throws IOException, InterruptedException {
        String command = "sh -c 'true; (sleep 0.5; sleep 1 | " + CPrograms.asked() + " values 30; true); true'";
        Commands.Result result = Cli.run("trace", "--follow", "--json", "-c", command, "asked:value");
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(Json.lines(result.out()))
                .hasSize(31)
                .last()
                .satisfies(sums -> assertThat(sums)
                        .containsEntry("events", 30L)
                        .containsEntry("lost", 0L)
                        .containsEntry("exact", true));
    }

    /** The shell, which starts first, has none of these functions; its children are other programs. */
    @Test
    @Requires(BPF_COOKIE)
    void functionsAreCountedInChildren() throws IOException, InterruptedException {
        Path asked = CPrograms.asked();
        String command = "sh -c '" + asked + " tree 3; " + asked + " tree 4 & wait; true'";
        assertThat(Json.lines(
                        Cli.run("count", "--follow", "--json", "-c", command, "u:" + asked + ":middle", "--by", "comm")
                                .out()))
                .containsExactly(
                        Map.of("type", "row", "key", Map.of("comm", "asked"), "count", 7L),
                        Map.of(
                                "type",
                                "end",
                                "events",
                                7L,
                                "lost",
                                0L,
                                "exact",
                                true,
                                "question",
                                Map.of("probes", List.of("u:middle"))));
    }

    /** A child that shares its parent's code, and has mapped nothing itself. */
    @Test
    @Requires(BPF_COOKIE)
    void functionsAreCountedInForkedCopies() throws IOException, InterruptedException {
        Path program = compiled("copies", """
                #include <sys/wait.h>
                #include <unistd.h>
                __attribute__((noipa)) void called(void) { volatile int here = 1; (void)here; }
                int main(void) {
                    for (int child = 0; child < 5; child++)
                        if (!fork()) { called(); called(); _exit(0); }
                    called();
                    while (wait(0) > 0) {}
                    return 0;
                }
                """);
        assertThat(Cli.run("count", "--follow", "-c", program.toString(), "u:called")
                        .out())
                .isEqualTo("11 events\n");
    }

    /** The file had a name of the first process only, which has ended when the children appear. */
    @Test
    @Requires(BPF_COOKIE)
    void functionsOfADeletedFileAreFollowed() throws IOException, InterruptedException {
        Path program = compiled("deleted", """
                #include <stdio.h>
                #include <sys/wait.h>
                #include <unistd.h>
                __attribute__((noipa)) void called(void) { volatile int here = 1; (void)here; }
                int main(void) {
                    pid_t first = getpid();
                    getchar();
                    if (fork())
                        return 0;
                    while (getppid() == first)
                        usleep(1000);
                    for (int child = 0; child < 2; child++) {
                        if (!fork()) { called(); called(); _exit(0); }
                        wait(0);
                    }
                    called();
                    return 0;
                }
                """);
        Process first = started(program);
        ProcessState.awaitReadOfInput(first.pid());
        Files.delete(program);
        assertThat(counted(first)).isEqualTo(sums(5, true));
    }

    /** The watch has no process for a moment, and must not end. */
    @Test
    @Requires({BPF_COOKIE, REAL_TIME})
    void aChildIsFollowedThatHasNotRunWhenTheFirstProcessEnds() throws IOException, InterruptedException {
        assertThat(counted(CPrograms.compile("orphan", "-O2"))).isEqualTo(sums(2, true));
    }

    /** The kernel lists it as a child, and refuses to trace it. */
    @Test
    @Requires(BPF_COOKIE)
    void aChildThatHasEndedLeavesTheAnswerExact() throws IOException, InterruptedException {
        assertThat(counted(compiled("zombie", """
                #include <stdio.h>
                #include <sys/wait.h>
                #include <unistd.h>
                __attribute__((noipa)) void called(void) { volatile int here = 1; (void)here; }
                int main(void) {
                    pid_t child = fork();
                    if (!child)
                        return 0;
                    siginfo_t end;
                    waitid(P_PID, child, &end, WEXITED | WNOWAIT);
                    getchar();
                    called();
                    return 0;
                }
                """))).isEqualTo(sums(1, true));
    }

    /**
     * It asks the kernel not to trace it, and is only found; so it calls until it has been. Then so does a child of its
     * own, which a later look finds: the look that found the first has ended then, and has told of it.
     */
    @Test
    @Requires(BPF_COOKIE)
    void aChildThatCannotBeHeldMakesTheAnswerInexact() throws IOException, InterruptedException {
        Process first = started(compiled("untraced", """
                #define _GNU_SOURCE
                #include <poll.h>
                #include <sched.h>
                #include <signal.h>
                #include <stdio.h>
                #include <sys/syscall.h>
                #include <sys/wait.h>
                #include <unistd.h>
                __attribute__((noipa)) void called(void) { volatile int here = 1; (void)here; }
                __attribute__((noipa)) void again(void) { volatile int here = 2; (void)here; }
                int main(void) {
                    struct pollfd input = {.fd = 0, .events = POLLIN};
                    char line;
                    getchar();
                    if (!syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, 0, 0, 0, 0)) {
                        while (!poll(&input, 1, 1)) called();
                        if (read(0, &line, 1) == 1 && !fork()) {
                            while (!poll(&input, 1, 1)) again();
                            _exit(0);
                        }
                        wait(0);
                        _exit(0);
                    }
                    wait(0);
                    called();
                    return 0;
                }
                """));
        try (Processes.Ended _ = Processes.endAfterwards(first);
                RunningTrace count = counting(first, "u:called", "u:again", "--by", "probe", "--every", "0.05")) {
            typeLine(first);
            count.awaitEvents("\"u:called\"", 1);
            typeLine(first);
            count.awaitEvents("\"u:again\"", 1);
            typeLine(first);
            Map<String, @Nullable Object> sums = sumsOf(count, first);
            assertThat(sums).containsEntry("lost", 0L).containsEntry("exact", false);
            assertThat(String.valueOf(sums.get("reason"))).contains("CLONE_UNTRACED");
        }
    }

    /** It does not tell debuggers of libraries, so first events in a library may be missing. */
    @Test
    @Requires({BPF_COOKIE, READELF})
    void aLoaderWithoutAPlaceForABreakpointMakesTheAnswerInexact() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("silent.c"), """
                #include <stdio.h>
                __attribute__((noipa)) void called(void) { volatile int here = 1; (void)here; }
                int main(void) { getchar(); called(); return 0; }
                """);
        Path program = folder.resolve("silent");
        Commands.check(List.of(
                "sh",
                "-c",
                "gcc -O2 -o $1 $2 && loader=$(readelf -l $1 | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p')"
                        + " && sed s/_dl_debug_state/_dl_debug_stale/ $loader >$1.so && chmod +x $1.so"
                        + " && gcc -O2 -Wl,--dynamic-linker=$1.so -o $1 $2",
                "sh",
                program.toString(),
                source.toString()));
        assertThat(counted(program))
                .containsEntry("events", 1L)
                .containsEntry("lost", 0L)
                .containsEntry("exact", false)
                .hasEntrySatisfying(
                        "reason", reason -> assertThat(reason).asString().contains("has no function _dl_debug_state"));
    }

    /** The processes decide how many reasons there are, and how long they are: here 8 KB. */
    @Test
    void manyLoadersMakeAShortReason() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("stale.c"), "int main(void) { return 0; }");
        Path program = folder.resolve("stale-00" + "x".repeat(150));
        Commands.check(List.of(
                "sh",
                "-ec",
                "gcc -o $1 $2; loader=$(readelf -l $1 | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p');"
                        + " gcc -Wl,--dynamic-linker=$1.so -o $1 $2; sed s/_dl_debug_state/_dl_debug_stale/ $loader >$1.so;"
                        + " for i in $(seq 10 39); do other=$(echo $1 | sed s/stale-00/stale-$i/); cp $1.so $other.so;"
                        + " sed s/stale-00/stale-$i/g $1 >$other; chmod +x $other $other.so; done",
                "sh",
                program.toString(),
                source.toString()));
        String run = "sh -c 'for each in " + folder + "/stale-[1-3]?*x; do $each; done'";
        Commands.Result result = Cli.run("count", "--follow", "--json", "-c", run, "u:libc.so.6:exit", "--by", "comm");
        assertThat(result.exitCode()).as(result.err()).isZero();
        Map<String, @Nullable Object> end = Json.lines(result.out()).getLast();
        assertThat(end).containsEntry("exact", false);
        assertThat(String.valueOf(end.get("reason")))
                .contains("has no function _dl_debug_state", "further reasons")
                .hasSizeLessThan(3_000);
    }

    /** Each library takes a descriptor of the trace, which has too few here. */
    @Test
    void librariesBeyondTheLimitOfDescriptorsAreNotForgotten() throws IOException, InterruptedException {
        Path library = Files.writeString(folder.resolve("numbered.c"), """
                #include <sys/sdt.h>
                __attribute__((constructor)) static void loaded(void) { DTRACE_PROBE(numbered, loaded); }
                """);
        Path loader = Files.writeString(folder.resolve("loads.c"), """
                #include <dlfcn.h>
                #include <stdio.h>
                int main(int argc, char **argv) {
                    for (int i = 1; i < argc; i++) {
                        if (!dlopen(argv[i], RTLD_NOW)) return 1;
                    }
                    return 0;
                }
                """);
        int libraries = 120;
        Commands.check(List.of(
                "sh",
                "-ec",
                "cd $1; gcc -shared -fPIC -o numbered.so $2; gcc -o loads $3 -ldl;"
                        + " for i in $(seq $4); do cp numbered.so numbered-$i.so; done",
                "sh",
                folder.toString(),
                library.toString(),
                loader.toString(),
                Integer.toString(libraries)));
        List<String> line = new ArrayList<>(List.of("sh", "-c", "ulimit -n 128 && exec \"$@\"", "sh"));
        String run = "sh -c 'exec " + folder + "/loads " + folder + "/numbered-*.so'";
        line.addAll(Cli.command("count", "--follow", "--json", "-c", run, "numbered:loaded"));
        Commands.Result result = Commands.run(line);
        Map<String, @Nullable Object> end = Json.lines(result.out()).getLast();
        assertThat(end).as(result.err()).containsEntry("exact", false);
        assertThat((Long) end.get("events")).as("the limit was met").isBetween(1L, libraries - 1L);
        assertThat(end.get("reason")).asString().contains("Too many open files");
    }

    private static Map<String, @Nullable Object> sums(long events, boolean exact) {
        return Map.of("type", "end", "events", events, "lost", 0L, "exact", exact);
    }

    /** A program that will wait for a line before it calls called(). */
    private static Process started(Path program) throws IOException {
        return new ProcessBuilder(program.toString())
                .inheritIO()
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .start();
    }

    private static Map<String, @Nullable Object> counted(Path program) throws IOException, InterruptedException {
        return counted(started(program));
    }

    /** The sums of the calls of called() in a program that waits, and in its children. */
    private static Map<String, @Nullable Object> counted(Process first) throws IOException, InterruptedException {
        try (Processes.Ended _ = Processes.endAfterwards(first);
                RunningTrace count = counting(first, "u:called")) {
            typeLine(first);
            return sumsOf(count, first);
        }
    }

    /** A count that has begun. */
    private static RunningTrace counting(Process first, String... question) throws IOException, InterruptedException {
        List<String> arguments =
                new ArrayList<>(List.of("count", "--follow", "--json", "-p", Long.toString(first.pid())));
        arguments.addAll(List.of(question));
        RunningTrace count = whenItReads(first, arguments.toArray(String[]::new));
        try {
            count.awaitMessage("bpf4j: tracing ");
            return count;
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            count.close();
            throw e;
        }
    }

    private static void typeLine(Process first) throws IOException {
        Writer input = first.outputWriter(StandardCharsets.UTF_8);
        input.write("\n");
        input.flush();
    }

    /** The sums of a count that ends with its process. */
    private static Map<String, @Nullable Object> sumsOf(RunningTrace count, Process first)
            throws IOException, InterruptedException {
        Commands.Result result = count.await();
        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(first.waitFor()).isZero();
        return Json.withoutQuestion(Json.lines(result.out()).getLast());
    }

    @Test
    void followingAFileIsWrongUsage() throws IOException, InterruptedException {
        Commands.Result result = Cli.run("trace", "--follow", "/bin/sh", "a:b");
        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("--follow needs -p or -c");
    }
}
