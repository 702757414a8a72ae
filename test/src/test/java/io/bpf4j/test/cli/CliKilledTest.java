package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.FirstProgram;
import io.bpf4j.test.support.Patience;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A tracer that is killed while it holds processes leaves none stopped: all of them run to their ends. {@code
 * -Dbpf4j.first.kills=200} is the long form, with as many random moments.
 */
@Requires({BPF, GCC, SDT_H})
class CliKilledTest {
    private static final int KILLS = Integer.getInteger("bpf4j.first.kills", 3);
    private static final long SEED = Long.getLong("bpf4j.first.seed", 1);

    /** From before the command is let go to after its end, where this machine is not too slow. */
    private static final int LONGEST_MILLIS = (int) Patience.scaled(3000);

    private static final long PATIENCE_MILLIS = Patience.scaled(60_000);
    private static final String MARK = "BPF4J_TEST_OF_KILLED_TRACER";

    @TempDir
    static Path folder;

    private static Path script = Path.of("");

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        FirstProgram first = FirstProgram.compile(folder);
        script = FirstProgram.script(
                folder.resolve("busy"),
                "i=0",
                "while [ $i -lt 15 ]; do i=$((i+1))",
                first.program() + " fork 5 10 & " + first.program() + " exec 3 10",
                first.program() + " dlopen " + first.library(),
                first.program() + " thread-exec 2 10",
                first.program() + " vfork 10",
                "wait",
                "done");
    }

    @Test
    @Timeout(7200)
    void nobodyStaysStopped() throws IOException, InterruptedException {
        Random random = new Random(SEED);
        for (int kill = 1; kill <= KILLS; kill++) {
            String mark = MARK + "=" + kill + "-" + ProcessHandle.current().pid();
            ProcessBuilder builder =
                    new ProcessBuilder(Cli.command("trace", "--follow", "-c", script.toString(), "first:*"));
            builder.environment().put(MARK, mark.substring(MARK.length() + 1));
            Process trace = builder.redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            int millis = random.nextInt(LONGEST_MILLIS);
            Thread.sleep(millis);
            trace.destroyForcibly().waitFor();
            long deadline = System.nanoTime() + PATIENCE_MILLIS * 1_000_000L;
            List<String> left = marked(mark);
            while (!left.isEmpty() && System.nanoTime() < deadline) {
                Thread.sleep(20);
                left = marked(mark);
            }
            assertThat(left)
                    .as("processes that are left of run " + kill + ", killed after " + millis + " ms")
                    .isEmpty();
        }
    }

    /** The states of all processes that have this in their environment. */
    private static List<String> marked(String mark) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> text(process.resolve("environ")).contains(mark + "\0"))
                    .map(process -> text(process.resolve("stat")))
                    .filter(stat -> !stat.isEmpty())
                    .toList();
        }
    }

    private static String text(Path file) {
        try {
            return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            return ""; // another file of /proc, or a process that has ended
        }
    }
}
