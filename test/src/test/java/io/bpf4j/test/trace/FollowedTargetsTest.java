package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.FirstProgram;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Questions of the library about a command or a process, and what appears in it. The program knows how often it fires. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class FollowedTargetsTest {
    private static final List<Object> FIFTY_NUMBERS =
            List.copyOf(LongStream.range(0, 50).boxed().toList());

    @TempDir
    static Path folder;

    private static String program = "";
    private static String library = "";

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        FirstProgram first = FirstProgram.compile(folder);
        program = first.program().toString();
        library = first.library().toString();
        FirstProgram.script(folder.resolve("becomes"), "exec " + program + " fire 1000");
        FirstProgram.script(folder.resolve("runs"), program + " fire 400 & " + program + " vfork 600", "wait");
    }

    record Fired(int pid, long number) {}

    @Test
    void everyEventOfACommandAndItsChildren() throws IOException {
        Map<Integer, List<Object>> byProcess = new TreeMap<>();
        try (Answer answer = Question.on(
                        Target.command(program, "fork", "20", "50").withChildren(), "first:*")
                .show("pid", "arg0")
                .open()) {
            answer.forEach(event -> {
                Fired fired = event.as(Fired.class);
                byProcess.computeIfAbsent(fired.pid(), _ -> new ArrayList<>()).add(fired.number());
            });
            assertThat(answer.reasonsForGaps()).isEmpty();
            assertThat(answer.isExact()).isTrue();
        }
        assertThat(byProcess)
                .hasSize(20)
                .allSatisfy((_, values) -> assertThat(values).isEqualTo(FIFTY_NUMBERS));
    }

    @Test
    void everyEventWithAllItsArguments() throws IOException {
        Map<Integer, List<Object>> byProcess = new TreeMap<>();
        try (EventStream events = Question.on(
                        Target.command(program, "fork", "20", "50").withChildren(), "first:*")
                .openEvents()) {
            events.forEach((event, probe) -> {
                assertThat(probe.id()).isEqualTo("first:program");
                assertThat(event.argCount()).isOne();
                byProcess.computeIfAbsent(event.pid(), _ -> new ArrayList<>()).add(event.bits(0));
            });
            assertThat(events.reasonsForGaps()).isEmpty();
            assertThat(events.isExact()).isTrue();
        }
        assertThat(byProcess)
                .hasSize(20)
                .allSatisfy((_, values) -> assertThat(values).isEqualTo(FIFTY_NUMBERS));
    }

    @Test
    void nothingIsAllocatedForAnEvent() throws IOException, InterruptedException {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (EventStream events = Question.on(UsdtScan.ofFile(Path.of(program)).matching("first:*"))
                .openEvents()) {
            long[] sum = new long[2];
            EventStream.Handler handler = (event, _) -> {
                sum[0]++;
                sum[1] += event.bits(0);
            };
            int fired = 4000;
            // Once the JIT compiler has done its work, for which a busy machine takes its time.
            Await.until(
                    fired + " events for which less than 10,000 bytes are allocated",
                    () -> {
                        Commands.check(List.of(program, "fire", Integer.toString(fired)));
                        sum[0] = 0;
                        long before = threads.getCurrentThreadAllocatedBytes();
                        events.poll(Duration.ZERO, handler);
                        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                        assertThat(sum[0]).isEqualTo(fired);
                        return allocated;
                    },
                    allocated -> allocated < 10_000);
        }
    }

    @Test
    void aStreamOfEventsHasNoExpressions() {
        Question filtered = Question.on(List.of()).where("arg0 > 1");
        assertThatThrownBy(filtered::loadEvents)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a stream of events is about USDT probes and has all their arguments");
    }

    /** Commands that fire a thousand times; PROGRAM, LIBRARY and FOLDER stand for what was made. */
    @ParameterizedTest
    @CsvSource({
        "false, PROGRAM fire 1000",
        "false, env X=1 PROGRAM fire 1000",
        "false, FOLDER/becomes",
        "true, FOLDER/runs",
        "false, PROGRAM exec 5 1000",
        "false, PROGRAM thread-exec 5 1000",
        "false, PROGRAM dlopen LIBRARY",
        "true, PROGRAM parent PROGRAM fire 1000"
    })
    void aThousandOfAThousandAreCounted(boolean children, String line) throws IOException {
        String[] words = line.replace("PROGRAM", program)
                .replace("LIBRARY", library)
                .replace("FOLDER", folder.toString())
                .split(" ", -1);
        Target target = Target.command(words);
        try (Answer answer = Question.on(children ? target.withChildren() : target, "first:*")
                .open()) {
            answer.await();
            assertThat(answer.isAlive()).isFalse();
            assertThat(count(answer)).as(line).isEqualTo(1000);
            assertThat(answer.reasonsForGaps()).isEmpty();
        }
    }

    private static long count(Answer answer) {
        return answer.rows().stream().mapToLong(Answer.Row::count).sum();
    }

    @Test
    void aLibraryThatARunningProcessLoadsLater() throws IOException, InterruptedException {
        Path input = folder.resolve("input");
        Commands.check(List.of("mkfifo", input.toString()));
        // A child of a shell, because this process can't hold a child of its own.
        String script = "\"$0\" late \"$1\" <\"$2\" >/dev/null 2>&1 & echo $!; wait";
        Process shell = new ProcessBuilder("sh", "-c", script, program, library, input.toString()).start();
        long late = Long.parseLong(
                shell.inputReader(StandardCharsets.UTF_8).readLine().strip());
        try (OutputStream toLate = Files.newOutputStream(input);
                Answer answer = Question.on(Target.process(Math.toIntExact(late)), "first:*")
                        .by("probe")
                        .open()) {
            Await.until(
                    "the shell's child is the program",
                    () -> answer.reasonsForGaps().isEmpty());
            assertThat(answer.isAlive()).isTrue();
            toLate.write('\n');
            toLate.flush();
            answer.await();
            assertThat(answer.rows()).singleElement().satisfies(row -> {
                assertThat(row.key()).containsEntry("probe", "first:library");
                assertThat(row.count()).isEqualTo(1000);
            });
            assertThat(answer.reasonsForGaps()).isEmpty();
        } finally {
            Processes.end(shell);
        }
        Processes.awaitEnd(late);
    }

    @Test
    void functionsAreCountedInEachProgramThatExecReplaces() throws IOException {
        try (Answer answer = Question.on(
                        Target.command(program, "exec", "3", "1").withChildren())
                .alsoOn(FunctionProbe.entry(Path.of(program), "main"))
                .open()) {
            answer.await();
            // The command, three that replace it, and the one that fires.
            assertThat(count(answer)).isEqualTo(5);
            assertThat(answer.reasonsForGaps()).isEmpty();
        }
    }

    @Test
    void aLosslessQuestionShowsAllEventsThoughTheRingBufferIsSmall() throws IOException {
        long[] shown = new long[1];
        try (Answer answer = Question.on(Target.command(program, "fire", "100000"), "first:*")
                .show("arg0")
                .withBuffer(1 << 16)
                .withLossless(true)
                .open()) {
            answer.forEach(event -> {
                assertThat(event.values()).containsEntry("arg0", shown[0]);
                shown[0]++;
            });
            assertThat(answer.isExact()).isTrue();
        }
        assertThat(shown[0]).isEqualTo(100_000);
    }

    @Test
    void aPatternWithoutAProbeIsAReasonForGaps() throws IOException {
        try (Answer answer = Question.on(Target.command(program, "fire", "3"), "first:*", "first:progam")
                .open()) {
            answer.await();
            assertThat(count(answer)).isEqualTo(3);
            assertThat(answer.reasonsForGaps())
                    .containsExactly(new Diagnostic(
                            Kind.NOT_ATTACHED,
                            "first:progam",
                            "no file of the followed processes has a probe first:progam"));
        }
    }

    @Test
    void withoutHoldingTheAnswerMayLackEventsAndSaysSo() throws IOException {
        try (Answer answer = Question.on(
                        Target.command(program, "fire", "1000").withChildren().withoutHolding(), "first:*")
                .open()) {
            answer.await();
            assertThat(count(answer)).isBetween(0L, 1000L);
            assertThat(answer.reasonsForGaps())
                    .contains(new Diagnostic(
                            Kind.LATE, "", "processes are polled every few milliseconds instead of being held"));
        }
    }

    @Test
    void closingEndsTheCommand() throws IOException, InterruptedException {
        Path number = folder.resolve("number");
        Path script = FirstProgram.script(
                folder.resolve("sleeps"),
                "echo $$ >" + number + ".new",
                "mv " + number + ".new " + number,
                "exec sleep 3600");
        long pid;
        try (Answer answer =
                Question.on(Target.command(script.toString()), "first:*").open()) {
            Await.until("the script has written its number", () -> Files.exists(number));
            pid = Long.parseLong(Files.readString(number).strip());
            assertThat(answer.isAlive()).isTrue();
        }
        Processes.awaitEnd(pid);
    }

    @Test
    void anInterruptEndsTheWait() throws IOException {
        try (Answer answer =
                Question.on(Target.command("sleep", "3600"), "first:*").open()) {
            Thread.currentThread().interrupt();
            answer.await();
            assertThat(Thread.interrupted()).isTrue();
        }
        try (EventStream events =
                Question.on(Target.command("sleep", "3600"), "first:*").openEvents()) {
            Thread.currentThread().interrupt();
            events.forEach((_, _) -> {});
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void aCommandThatCanNotBeStartedIsRefused() throws IOException {
        Path data = Files.writeString(folder.resolve("data"), "x");
        assertThatThrownBy(() -> Question.on(Target.command("bpf4j-no-such-command"), "first:*"))
                .isInstanceOf(IOException.class)
                .hasMessage("bpf4j-no-such-command: no such command in PATH");
        assertThatThrownBy(() -> Question.on(Target.command(data.toString()), "first:*"))
                .isInstanceOf(IOException.class)
                .hasMessage(data + ": is not executable");
        assertThatThrownBy(() -> Question.on(Target.command(folder + "/missing"), "first:*"))
                .isInstanceOf(IOException.class)
                .hasMessage(folder + "/missing: no such command");
        Path vanishes = Files.copy(Path.of(program), folder.resolve("vanishes"));
        Question question = Question.on(Target.command(vanishes.toString()), "first:*");
        Files.delete(vanishes);
        assertThatThrownBy(question::open)
                .isInstanceOf(UsdtException.class)
                .hasMessage("ask a question: " + vanishes + ": no such command");
        assertThatThrownBy(() -> Target.command(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Target.process(0)).isInstanceOf(IllegalArgumentException.class);
        Question aboutNothing = Question.on(Target.command(program));
        assertThatThrownBy(aboutNothing::open)
                .isInstanceOf(UsdtException.class)
                .hasMessageContaining("no probes given");
    }
}
