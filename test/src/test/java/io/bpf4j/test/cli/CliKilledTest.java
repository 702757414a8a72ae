package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.FirstProgram;
import io.bpf4j.test.support.Requires;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.UUID;
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

    /** Of each library that is loaded. So few, because a moment is a number of events, and most are to be elsewhere. */
    private static final String EVENTS_OF_LIBRARY = "10";

    /** Of the whole script: of 15 rounds with 50 by fork, and 10 each by exec, dlopen, exec in a thread, and vfork. */
    private static final int EVENTS = 15 * 90;

    /** Moments before the first event, when the command is held or has just been let go. */
    private static final int EARLY = 150;

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
    @Timeout(7200) // for what hangs
    void nobodyStaysStopped() throws IOException, InterruptedException {
        Random random = new Random(SEED);
        for (int kill = 1; kill <= KILLS; kill++) {
            String mark = UUID.randomUUID().toString();
            ProcessBuilder builder =
                    new ProcessBuilder(Cli.command("trace", "--follow", "-c", script.toString(), "first:*"));
            builder.environment().put(MARK, mark);
            builder.environment().put("FIRST_EVENTS", EVENTS_OF_LIBRARY);
            Process trace =
                    builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
            int events = random.nextInt(EARLY + EVENTS) - EARLY;
            try {
                awaitMoment(trace, events);
            } finally {
                trace.destroyForcibly().waitFor();
            }
            awaitEnds(mark, "run " + kill + ", killed after " + Math.max(0, events) + " events");
        }
    }

    /** Returns when the trace has printed that many events; for none or fewer, when it has started the command. */
    private static void awaitMoment(Process trace, int events) throws IOException, InterruptedException {
        if (events <= 0) {
            Await.until(
                    "the command is started",
                    () -> trace.descendants().findAny().isPresent() || !trace.isAlive());
            return;
        }
        BufferedReader lines = trace.inputReader();
        String line = "";
        for (int read = 0; read < events && line != null; read++) {
            line = lines.readLine();
        }
    }

    private static void awaitEnds(String mark, String when) throws IOException, InterruptedException {
        try {
            Await.until("all processes of " + when + ", have ended", () -> marked(mark), List::isEmpty);
        } finally {
            for (String left : marked(mark)) {
                String pid = left.substring(0, left.indexOf(' '));
                // 1: it has ended meanwhile.
                assertThat(Commands.run(List.of("kill", "-KILL", pid)).exitCode())
                        .isIn(0, 1);
            }
        }
    }

    /** The states of all processes that have this in their environment. */
    private static List<String> marked(String mark) throws IOException {
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> text(process.resolve("environ")).contains(MARK + "=" + mark + "\0"))
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
