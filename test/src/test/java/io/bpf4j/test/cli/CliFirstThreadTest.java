package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Processes that live on without their first thread. */
@Requires({BPF, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliFirstThreadTest {
    /** For each line of standard input fires ten times: for the first in the first thread, which ends then. */
    private static final String PROGRAM = """
            #include <pthread.h>
            #include <stdio.h>
            #include <sys/sdt.h>
            static void fire(void) {
                for (int i = 0; i < 10; i++) DTRACE_PROBE1(lives, on, i);
                puts("fired");
                fflush(stdout);
            }
            static void *work(void *unused) {
                while (getchar() == '\\n') fire();
                return unused;
            }
            int main(void) {
                pthread_t thread;
                if (getchar() == '\\n') fire();
                pthread_create(&thread, 0, work, 0);
                pthread_exit(0);
            }
            """;

    @TempDir
    static Path folder;

    private Process target;

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("lives.c"), PROGRAM);
        Commands.check(List.of("gcc", "-pthread", "-o", folder + "/lives", source.toString()));
    }

    @BeforeEach
    void start() throws IOException {
        target = new ProcessBuilder(folder + "/lives").start();
    }

    @AfterEach
    void end() {
        Processes.end(target);
    }

    private String pid() {
        return Long.toString(target.pid());
    }

    private void fire() throws IOException {
        target.outputWriter().append('\n').flush();
        assertThat(target.inputReader().readLine()).isEqualTo("fired");
    }

    private void endFirstThread() throws IOException, InterruptedException {
        fire();
        Await.until("the first thread has ended", () -> ProcessState.of(target.pid()) == 'Z');
    }

    /** What a command prints last about a process that fires ten times before its first thread ends, and ten after. */
    private String traced(String... arguments) throws IOException, InterruptedException {
        Process trace = new ProcessBuilder(Cli.command(arguments)).start();
        try (Processes.Ended _ = Processes.endAfterwards(trace);
                BufferedReader messages = trace.errorReader()) {
            assertThat(messages.readLine()).contains("tracing 1 probe");
            endFirstThread();
            fire();
            Commands.check(List.of("kill", "-INT", Long.toString(trace.pid())));
            List<String> lines = trace.inputReader().readAllLines();
            assertThat(trace.waitFor()).isZero();
            return lines.getLast();
        }
    }

    @ParameterizedTest
    @EnumSource
    void eventsAreThereOrTheAnswerIsNotExact(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        for (String command : List.of("trace", "count")) {
            String sums = traced(command, "--strategy", strategy.option(), "--json", "-p", pid(), "lives:on");
            if (strategy == Strategy.MULTI) {
                assertThat(sums)
                        .as(command)
                        .contains("\"events\":20,\"lost\":0")
                        .doesNotContain("\"exact\":false");
            } else {
                assertThat(sums).as(command).contains("\"exact\":false", "the first thread of process " + pid());
            }
            end();
            start();
        }
    }

    @ParameterizedTest
    @EnumSource
    void soIsAnAnswerAboutProcessesThatAreFollowed(Strategy strategy) throws IOException, InterruptedException {
        strategy.insistOn();
        List<String> arguments = new ArrayList<>(List.of("trace", "--follow", "--strategy", strategy.option()));
        arguments.addAll(List.of("-p", pid(), "lives:on"));
        assertThat(traced(arguments.toArray(String[]::new)))
                .contains("not exact: the first thread of process " + pid());
    }

    @Test
    void aProcessWithoutItsFirstThreadIsRefused() throws IOException, InterruptedException {
        endFirstThread();
        assertThat(Cli.fail("trace", "-p", pid(), "lives:on")).contains("the first thread of process " + pid());
    }
}
