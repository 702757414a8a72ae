package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Files that are replaced or mapped while a question runs: what it then misses, it says. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class ChangesOnKernelTest {
    /** Fires, fires in a library that it loads, or becomes another program. */
    private static final String PROGRAM = """
            #include <dlfcn.h>
            #include <stdio.h>
            #include <string.h>
            #include <sys/sdt.h>
            #include <unistd.h>
            __attribute__((noinline)) void fire(void) { DTRACE_PROBE1(changes, fired, 1); }
            int main(void) {
                char line[4096];
                puts("ready");
                fflush(stdout);
                while (fgets(line, sizeof(line), stdin)) {
                    line[strcspn(line, "\\n")] = 0;
                    if (!strncmp(line, "exec ", 5)) {
                        execl(line + 5, line + 5, (char *) 0);
                        return 1;
                    }
                    void (*loaded)(void) = fire;
                    if (!strncmp(line, "load ", 5)) {
                        void *library = dlopen(line + 5, RTLD_NOW);
                        loaded = library ? (void (*)(void)) dlsym(library, "fire_loaded") : 0;
                    }
                    if (!loaded) return 1;
                    loaded();
                    puts("done");
                    fflush(stdout);
                }
                return 0;
            }
            """;

    private static final String LIBRARY = """
            #include <sys/sdt.h>
            void fire_loaded(void) { DTRACE_PROBE1(changes, PROBE, 1); }
            """;

    private static final String FIRED = "changes:fired";

    private static final AtomicInteger FILES = new AtomicInteger();

    @TempDir
    static Path folder;

    private static Path program = Path.of("");
    private static Path same = Path.of("");
    private static Path other = Path.of("");

    /** Of one test alone. */
    private Path own = Path.of("");

    private static final class Runner extends LineProcess {
        Runner(Path file) throws IOException {
            super(new ProcessBuilder(file.toString()));
        }
    }

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("changes.c"), PROGRAM);
        Path library = Files.writeString(folder.resolve("library.c"), LIBRARY);
        program = folder.resolve("changes");
        same = folder.resolve("same.so");
        other = folder.resolve("other.so");
        Commands.check(List.of("gcc", "-O1", "-o", program.toString(), source.toString(), "-ldl"));
        shared(same, library, "fired");
        shared(other, library, "another");
    }

    private static void shared(Path file, Path source, String probe) throws IOException, InterruptedException {
        Commands.check(
                List.of("gcc", "-shared", "-fPIC", "-DPROBE=" + probe, "-o", file.toString(), source.toString()));
    }

    @BeforeEach
    void copy() throws IOException {
        own = Files.copy(program, folder.resolve("own" + FILES.incrementAndGet()), StandardCopyOption.COPY_ATTRIBUTES);
    }

    /** As a package manager does. */
    private void upgrade() throws IOException {
        Path next = Files.copy(program, folder.resolve("next"), StandardCopyOption.COPY_ATTRIBUTES);
        Files.move(next, own, StandardCopyOption.ATOMIC_MOVE);
    }

    private static void fire(Path file) throws IOException {
        try (Runner runner = new Runner(file)) {
            runner.command("fire");
        }
    }

    private static long count(Answer answer) {
        return answer.rows().stream().mapToLong(Answer.Row::count).sum();
    }

    private void assertReplaced(RunningProgram answer) {
        assertThat(answer.isExact()).isFalse();
        assertThat(answer.reasonsForGaps()).singleElement().satisfies(gap -> {
            assertThat(gap.kind()).isEqualTo(Kind.NOT_ATTACHED);
            assertThat(gap.subject()).isEqualTo(own.toString());
            assertThat(gap.message())
                    .startsWith(own + " was replaced at about ")
                    .endsWith(": processes that have started since run another file, which nothing is attached to");
        });
    }

    @Test
    void aProgramThatIsReplaced() throws IOException {
        Question question = Question.on(UsdtScan.ofFile(own).matching(FIRED));
        Question function = Question.on(List.of())
                .alsoOn(FunctionProbe.matching(own, "fire", false).toArray(FunctionProbe[]::new));
        Question byName = Question.on(List.of()).alsoOn(FunctionProbe.entry(own, "fire"));
        try (Answer counts = question.open();
                Answer calls = function.open();
                Answer callsByName = byName.open();
                EventStream stream = question.openEvents()) {
            List<RunningProgram> all = List.of(counts, calls, callsByName, stream);
            fire(own);
            assertThat(all).allSatisfy(each -> assertThat(each.reasonsForGaps()).isEmpty());
            upgrade();
            fire(own);
            assertThat(all).allSatisfy(this::assertReplaced);
            // What is said is true: the second process ran another file.
            assertThat(List.of(counts, calls, callsByName))
                    .allSatisfy(each -> assertThat(count(each)).isOne());
        }
    }

    /** As somebody does who goes on after an upgrade: nothing that was counted is lost, and the old file is counted. */
    @Test
    void theNewFileCanBeAttachedTo() throws IOException, InterruptedException {
        try (Runner old = new Runner(own);
                Answer answer =
                        Question.on(UsdtScan.ofFile(own).matching(FIRED)).open()) {
            old.command("fire");
            assertThat(answer.replacedFiles()).isEmpty();
            upgrade();
            Await.until("it is seen", () -> answer.replacedFiles().equals(Set.of(own)));
            answer.attach(UsdtScan.ofFile(own).matching(FIRED).probes(), OptionalInt.empty());
            assertThat(answer.replacedFiles()).isEmpty();
            old.command("fire");
            fire(own);
            assertThat(count(answer)).isEqualTo(3);
            assertThat(answer.reasonsForGaps())
                    .singleElement()
                    .satisfies(gap -> assertThat(gap.message())
                            .startsWith(own + " was replaced at about ")
                            .contains(", and the new file was attached to at about ")
                            .endsWith(": events in between are missing"));
        }
    }

    @Test
    void aLinkThatIsSwitched() throws IOException {
        Path version = own;
        own = Files.createSymbolicLink(folder.resolve("current"), version);
        try (Answer answer = Question.on(UsdtScan.ofFile(own).matching(FIRED)).open()) {
            fire(own);
            Path next =
                    Files.createSymbolicLink(folder.resolve("next-link"), Files.copy(program, folder.resolve("v2")));
            Files.move(next, own, StandardCopyOption.ATOMIC_MOVE);
            fire(own);
            assertReplaced(answer);
            assertThat(count(answer)).isOne();
        }
    }

    @Test
    void aProgramThatIsReplacedForAMoment() throws IOException, InterruptedException {
        Path aside = folder.resolve("aside");
        Files.createLink(aside, own);
        try (Answer answer = Question.on(UsdtScan.ofFile(own).matching(FIRED)).open()) {
            upgrade();
            Await.until("it is seen", () -> !answer.isExact());
            Files.move(aside, own, StandardCopyOption.ATOMIC_MOVE);
            assertReplaced(answer);
        }
    }

    @Test
    void whatHappensAfterTheAnswerHasEnded() throws IOException {
        try (Answer answer = Question.on(UsdtScan.ofFile(own).matching(FIRED)).open()) {
            fire(own);
            answer.detach().forEach(closing -> closing.toCompletableFuture().join());
            upgrade();
            assertThat(answer.isExact()).isTrue();
            assertThat(count(answer)).isOne();
        }
    }

    @Test
    void aProgramThatIsMovedAwayIsStillTraced() throws IOException {
        try (Answer answer = Question.on(UsdtScan.ofFile(own).matching(FIRED)).open()) {
            Path moved = Files.move(own, folder.resolve("moved"));
            fire(moved);
            assertThat(answer.isExact()).isTrue();
            assertThat(count(answer)).isOne();
        }
    }

    @Test
    void aProcessGoesOnWithTheFileThatItRuns() throws IOException {
        try (Runner runner = new Runner(own);
                Answer answer = Question.on(UsdtScan.ofProcess(runner.pid()).matching(FIRED))
                        .open()) {
            upgrade();
            runner.command("fire");
            assertThat(answer.isExact()).isTrue();
            assertThat(answer.hints()).isEmpty();
            assertThat(count(answer)).isOne();
        }
    }

    private static Diagnostic alsoHas(Runner runner, Path file) {
        return new Diagnostic(
                Kind.LEFT_OUT,
                file.toString(),
                "process " + runner.pid() + " has mapped " + file + " after it was attached to, and the file has "
                        + FIRED + ", too");
    }

    @Test
    void aLibraryWithTheProbeThatIsLoadedLater() throws IOException {
        try (Runner runner = new Runner(own);
                Answer answer = Question.on(UsdtScan.ofProcess(runner.pid()).matching(FIRED))
                        .open()) {
            runner.command("fire");
            runner.command("load " + other);
            assertThat(answer.hints()).isEmpty();
            runner.command("load " + same);
            assertThat(answer.hints()).containsExactly(alsoHas(runner, same));
            runner.command("load " + same);
            assertThat(answer.hints()).containsExactly(alsoHas(runner, same));
            assertThat(count(answer)).isOne();
            assertThat(answer.isExact()).as("of the probes that are attached").isTrue();
        }
    }

    @Test
    void aProgramWithTheProbeThatAProcessBecomes() throws IOException {
        try (Runner runner = new Runner(program);
                Answer answer = Question.on(UsdtScan.ofProcess(runner.pid()).matching(FIRED))
                        .open()) {
            assertThat(runner.command("exec " + own)).isEqualTo("ready");
            assertThat(answer.hints()).containsExactly(alsoHas(runner, own));
        }
    }

    @Test
    void aTargetIsAttachedToWhatItLoads() throws IOException {
        try (Runner runner = new Runner(own);
                Answer answer = Question.on(Target.process(runner.pid()).withoutHolding(), FIRED)
                        .open()) {
            runner.command("load " + same);
            assertThat(answer.hints()).isEmpty();
        }
    }

    @Test
    void functionsOfATargetAreThoseOfTheFirstFile() throws IOException {
        FunctionProbe[] fire = FunctionProbe.matching(own, "fire", false).toArray(FunctionProbe[]::new);
        try (Runner runner = new Runner(own);
                Answer answer = Question.on(Target.process(runner.pid()).withoutHolding())
                        .alsoOn(fire)
                        .open()) {
            runner.command("fire");
            upgrade();
            assertThat(runner.command("exec " + own)).isEqualTo("ready");
            runner.command("fire");
            assertThat(count(answer)).isOne();
            assertThat(answer.reasonsForGaps()).extracting(Diagnostic::subject).contains(own.toString());
        }
    }
}
