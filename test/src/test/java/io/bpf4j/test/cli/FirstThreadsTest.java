package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.GCC;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.process.FirstThreads;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A first thread that ends, and a thread that then executes another program; {@code CliFirstThreadTest} has the events.
 */
@Requires(GCC)
@Timeout(600) // for what hangs
class FirstThreadsTest {
    /** Its first thread ends at once. Of the others one waits, and one executes sleep at a line of standard input. */
    private static final String PROGRAM = """
            #include <pthread.h>
            #include <stdio.h>
            #include <unistd.h>
            static void *stay(void *unused) {
                for (;;) pause();
                return unused;
            }
            static void *replace(void *unused) {
                if (getchar() == '\\n') execlp("sleep", "sleep", "1000", (char *)0);
                return unused;
            }
            int main(void) {
                pthread_t thread;
                pthread_create(&thread, 0, stay, 0);
                pthread_create(&thread, 0, replace, 0);
                pthread_exit(0);
            }
            """;

    @Test
    void anExecDoesNotHideThatTheFirstThreadHadEndedByItself(@TempDir Path folder) throws Exception {
        Path source = Files.writeString(folder.resolve("replaced.c"), PROGRAM);
        Path program = folder.resolve("replaced");
        Commands.check(List.of("gcc", "-pthread", "-o", program.toString(), source.toString()));
        Process target = new ProcessBuilder(program.toString()).start();
        try (Processes.Ended _ = Processes.endAfterwards(target)) {
            int pid = Math.toIntExact(target.pid());
            Await.until("the first thread has ended", () -> ProcessState.of(pid) == 'Z');
            FirstThreads threads = new FirstThreads(false);
            threads.add(pid);
            assertThat(threads.gaps()).extracting(Diagnostic::subject).containsExactly("process " + pid);
            target.outputWriter().append('\n').flush();
            ProcessState.awaitAsleep(pid, "sleep");
            threads.add(pid); // as an exec is reported
            assertThat(threads.gaps()).extracting(Diagnostic::subject).containsExactly("process " + pid);
        }
    }
}
