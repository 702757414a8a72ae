package io.bpf4j.test.trace;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.LineProcess;
import io.bpf4j.test.support.Requires;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.EventStream;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.RunningProgram;
import io.bpf4j.trace.Target;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What an answer lacks is in the answer, also for a program that prints nothing. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@ExtendWith(LeakCheck.class)
@Timeout(600) // for what hangs
class HintsOnKernelTest {
    /** Fires, or forks a child that ends with it. */
    private static final String PROGRAM = """
            #include <signal.h>
            #include <stdio.h>
            #include <sys/prctl.h>
            #include <sys/sdt.h>
            #include <unistd.h>
            int main(void) {
                char line[80];
                puts("ready");
                fflush(stdout);
                while (fgets(line, sizeof(line), stdin)) {
                    if (line[1] == 'i') {
                        DTRACE_PROBE1(hints, fired, 1);
                    } else {
                        pid_t parent = getpid();
                        if (!fork()) {
                            prctl(PR_SET_PDEATHSIG, SIGKILL);
                            while (getppid() == parent) pause();
                            return 0;
                        }
                    }
                    puts("done");
                    fflush(stdout);
                }
                return 0;
            }
            """;

    private static final String FIRED = "hints:fired";

    @TempDir
    static Path folder;

    private static String program = "";

    private static final class Parent extends LineProcess {
        Parent() throws IOException {
            super(new ProcessBuilder(program));
        }

        /** What is to be said of it. */
        Diagnostic leftOut() {
            return new Diagnostic(
                    Kind.LEFT_OUT,
                    "process " + pid(),
                    "no event came from process " + pid() + ", which has child processes");
        }
    }

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("hints.c"), PROGRAM);
        program = folder + "/hints";
        Commands.check(List.of("gcc", "-o", program, source.toString()));
    }

    @Test
    void aProcessThatMayLeaveTheWorkToItsChildren() throws IOException {
        try (Parent parent = new Parent()) {
            Question question = Question.on(UsdtScan.ofProcess(parent.pid()).matching(FIRED));
            try (Answer counts = question.open();
                    Answer shown = question.show("arg0").open();
                    EventStream stream = question.openEvents()) {
                List<RunningProgram> all = List.of(counts, shown, stream);
                assertThat(all).allSatisfy(each -> assertThat(each.hints()).isEmpty());
                parent.command("fork");
                assertThat(all).allSatisfy(each -> assertThat(each.hints()).containsExactly(parent.leftOut()));
                parent.command("fire");
                assertThat(all)
                        .as("counted, or not delivered yet")
                        .allSatisfy(each -> assertThat(each.hints()).isEmpty());
                shown.poll(Duration.ZERO, _ -> {});
                stream.poll(Duration.ZERO, (_, _) -> {});
                assertThat(all)
                        .as("delivered")
                        .allSatisfy(each -> assertThat(each.hints()).isEmpty());
            }
        }
    }

    @Test
    void aTargetWithItsChildrenAndWithout() throws IOException {
        try (Parent parent = new Parent()) {
            parent.command("fork");
            // The JDK waits for its own children, which so can't be held.
            Target alone = Target.process(parent.pid()).withoutHolding();
            try (Answer answer = Question.on(alone, FIRED).open()) {
                assertThat(answer.hints()).containsExactly(parent.leftOut());
            }
            try (Answer answer = Question.on(alone.withChildren(), FIRED).open()) {
                assertThat(answer.hints()).isEmpty();
            }
        }
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void aFlagThatAJvmLacks() throws IOException {
        try (ChildJvm jvm = ChildJvm.start();
                Answer answer = Question.on(UsdtScan.ofProcess(jvm.pid()).matching("hotspot:method__entry"))
                        .open()) {
            assertThat(answer.hints())
                    .containsExactly(new Diagnostic(
                            Kind.MAY_NOT_FIRE,
                            "DTraceMethodProbes",
                            "probes such as hotspot:method__entry won't fire: process " + jvm.pid()
                                    + " was started without -XX:+DTraceMethodProbes"));
        }
    }

    @Test
    @Requires(HOTSPOT_PROBES)
    void aFlagThatTheJvmsOfAFileNeed() throws IOException {
        // Few programs wait by monitors, and none has the flag.
        try (EventStream stream = Question.on(UsdtScan.ofFile(ChildJvm.libjvm()).matching("hotspot:monitor__notify"))
                .openEvents()) {
            assertThat(stream.hints())
                    .containsExactly(new Diagnostic(
                            Kind.MAY_NOT_FIRE,
                            "DTraceMonitorProbes",
                            "probes such as hotspot:monitor__notify fire only in a JVM that was started with"
                                    + " -XX:+DTraceMonitorProbes"));
        }
    }
}
