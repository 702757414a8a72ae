package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.CPrograms;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.CtrlC;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that are paused so that no event is lost, and what becomes of them. */
@Requires({BPF, GCC, SDT_H})
@Timeout(1800) // for what hangs: millions of events take minutes where others want the processors
class CliLosslessTest {
    private static final String[] ARGUMENTS = {" arg0=", " arg1=", " arg2="};
    private static final Pattern SUMS = Pattern.compile("(\\d+) events(?:, (\\d+) (?:lost|not shown))?");

    private static final Pattern WRITTEN = Pattern.compile("it has the lines of (\\d+) events?;");

    private static Path asked = Path.of("/nonexistent");

    @BeforeAll
    static void compile() {
        asked = CPrograms.asked();
    }

    /** What a trace of {@code asked fast} printed: the last index of each thread, and the sums. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Fired(long[] next, long events, long lost) {}

    /** Traces to the end; the events of each thread have to be in order, each at most once. */
    private static Fired trace(int threads, long count, String buffer, String... more)
            throws IOException, InterruptedException {
        String command = asked + " fast " + threads + " " + count;
        List<String> options =
                new ArrayList<>(List.of("trace", "--lossless", "--buffer", buffer, "-c", command, "asked:fast"));
        options.addAll(List.of(more));
        Process trace = new ProcessBuilder(Cli.command(options.toArray(String[]::new)))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        long[] next = new long[threads];
        long events = 0;
        String last = "";
        try (Processes.Ended _ = Processes.endAfterwards(trace);
                BufferedReader lines = trace.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                last = line;
                if (line.contains(ARGUMENTS[0])) {
                    long[] values = values(line);
                    long index = values[0];
                    int thread = Math.toIntExact(values[2]);
                    if (index < next[thread] || values[1] != index * 1_000_003) {
                        throw new AssertionError("after event " + next[thread] + ": " + line);
                    }
                    next[thread] = index + 1;
                    events++;
                }
            }
            assertThat(trace.waitFor()).as(last).isZero();
        }
        Matcher sums = SUMS.matcher(last);
        assertThat(sums.lookingAt()).as(last).isTrue();
        assertThat(Long.parseLong(sums.group(1))).isEqualTo(events);
        return new Fired(next, events, sums.group(2) == null ? 0 : Long.parseLong(sums.group(2)));
    }

    /** The arguments at the end of a line. A regular expression would take longer than the trace. */
    private static long[] values(String line) {
        long[] values = new long[ARGUMENTS.length];
        int end = line.length();
        for (int i = ARGUMENTS.length - 1; i >= 0; i--) {
            int start = line.lastIndexOf(ARGUMENTS[i], end);
            values[i] = Long.parseLong(line, start + ARGUMENTS[i].length(), end, 10);
            end = start;
        }
        return values;
    }

    @Test
    void eachOfTwoMillionEventsArrives() throws IOException, InterruptedException {
        Fired fired = trace(1, 2_000_000, "256KiB");
        assertThat(fired.lost()).isZero();
        assertThat(fired.events()).isEqualTo(2_000_000);
    }

    /** Each thread stops after its own event, so the buffer has room for all, although most wait for a processor. */
    @Test
    void noEventOfManyThreadsIsLost() throws IOException, InterruptedException {
        Fired fired = trace(8, 100_000, "16KiB");
        assertThat(fired.lost()).isZero();
        assertThat(fired.next()).containsOnly(100_000);
        assertThat(fired.events()).isEqualTo(800_000);
    }

    @Test
    void eachEventThatPassesAFilterArrives() throws IOException, InterruptedException {
        Fired fired = trace(1, 300_000, "64KiB", "--where", "arg0 % 2 == 1");
        assertThat(fired.lost()).isZero();
        assertThat(fired.next()).containsOnly(300_000);
        assertThat(fired.events()).isEqualTo(150_000);
    }

    @Test
    void noShownEventOfManyThreadsIsLost() throws IOException, InterruptedException {
        Fired fired = trace(8, 20_000, "16KiB", "--show", "arg0,arg1,arg2");
        assertThat(fired.lost()).isZero();
        assertThat(fired.events()).isEqualTo(160_000);
    }

    @Test
    void functionsArePausedToo() throws IOException, InterruptedException {
        Commands.Result result = Cli.run(
                "trace", "--lossless", "--buffer", "4KiB", "-c", asked + " tree 20000", "u:leaf", "--show", "arg0");
        assertThat(result.out()).contains("\n20000 events, 0 lost\n");
    }

    /** The pipe is full, and nobody reads it: the process is paused, and continues when bpf4j ends. */
    @ParameterizedTest
    @CsvSource({
        "second interrupt, false",
        "second interrupt, true",
        "one request, false",
        "one request, true",
        "reader gone, false",
        "reader gone, true"
    })
    void aPausedProcessContinuesWhenTheTraceEnds(String end, boolean filtered)
            throws IOException, InterruptedException {
        try (Traced traced = filtered ? new Traced("--where", "arg0 >= 0", "--json") : new Traced()) {
            traced.fireUntilPaused();
            if (end.equals("reader gone")) {
                traced.trace.getInputStream().close();
            } else if (end.equals("one request")) {
                signal("TERM", traced.trace.pid());
            } else {
                CtrlC.untilEnd(traced.trace.pid());
            }
            assertThat(traced.target.waitFor()).isZero();
        }
    }

    /** SIGTERM ends a trace whose pipe is full, and it says what the pipe has. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aTraceThatNobodyReadsEndsWhenItIsAsked(boolean filtered) throws IOException, InterruptedException {
        try (Traced traced = filtered ? new Traced("--where", "arg0 >= 0", "--json") : new Traced()) {
            traced.fireUntilPaused();
            signal("TERM", traced.trace.pid());
            assertThat(traced.trace.waitFor()).isEqualTo(128 + 15);
            String messages;
            try (BufferedReader errors = traced.trace.errorReader()) {
                messages = String.join("\n", errors.lines().toList());
            }
            assertThat(messages).contains("ended by a signal while nobody read standard output: ", "lost");
            if (!filtered) {
                Matcher written = WRITTEN.matcher(messages);
                assertThat(written.find()).as(messages).isTrue();
                List<String> lines;
                try (BufferedReader output = traced.trace.inputReader()) {
                    lines = output.lines().toList();
                }
                long whole = lines.stream()
                        .filter(line -> line.contains(ARGUMENTS[2]))
                        .count();
                assertThat(Long.parseLong(written.group(1)))
                        .as(messages)
                        .isPositive()
                        .isLessThanOrEqualTo(whole);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aPausedProcessContinuesIfTheTraceIsKilled(boolean filtered) throws IOException, InterruptedException {
        try (Traced traced = filtered ? new Traced("--where", "arg0 >= 0", "--json") : new Traced()) {
            traced.fireUntilPaused();
            assertThat(traced.trace.destroyForcibly().waitFor()).isNotZero();
            assertThat(traced.target.waitFor()).isZero();
        }
    }

    /** As {@code timeout -s KILL} and the kernel's control groups do. */
    @Test
    void aPausedProcessContinuesIfTheGroupOfTheTraceIsKilled() throws IOException, InterruptedException {
        try (Traced traced = new Traced(List.of("setsid"))) {
            traced.fireUntilPaused();
            // A shell in the session of the trace is killed with it.
            Commands.check(List.of("kill", "-KILL", "--", "-" + traced.trace.pid()));
            assertThat(traced.trace.waitFor()).isNotZero();
            assertThat(traced.target.waitFor()).isZero();
        }
    }

    @Test
    void aProcessThatItsUserStoppedStaysStopped() throws IOException, InterruptedException {
        try (Traced traced = new Traced()) {
            traced.awaitAttached();
            signal("STOP", traced.target.pid());
            ProcessState.awaitStopped(traced.target.pid());
            signal("INT", traced.trace.pid());
            assertThat(traced.trace.waitFor()).isZero();
            assertThat(ProcessState.of(traced.target.pid())).isEqualTo('T');
        }
    }

    /** A process that will fire more than a pipe holds, and a trace of it that nobody reads. */
    private static final class Traced implements AutoCloseable {
        private final Process target;
        private final Process trace;

        Traced(String... more) throws IOException, InterruptedException {
            this(List.of(), more);
        }

        /** A trace that a command starts. */
        Traced(List<String> starter, String... more) throws IOException, InterruptedException {
            target = new ProcessBuilder(asked.toString(), "later", "2", "100000").start();
            ProcessState.awaitReadOfInput(target.pid());
            List<String> arguments = new ArrayList<>(List.of(
                    "trace", "--lossless", "--buffer", "8KiB", "-p", Long.toString(target.pid()), "asked:fast"));
            arguments.addAll(List.of(more));
            List<String> command = new ArrayList<>(starter);
            command.addAll(Cli.command(arguments.toArray(String[]::new)));
            trace = new ProcessBuilder(command).start();
        }

        void awaitAttached() throws IOException {
            assertThat(trace.errorReader().readLine()).contains("tracing 1 probe");
        }

        /**
         * Returns when the process is paused for good. It is paused and continued many times before that, until the
         * trace waits in vain for room in the pipe.
         */
        void fireUntilPaused() throws IOException, InterruptedException {
            awaitAttached();
            target.outputWriter().append('\n').flush();
            ProcessState.awaitBlockedWrite(trace.pid());
            ProcessState.awaitStopped(target.pid());
        }

        @Override
        public void close() {
            Processes.end(trace);
            Processes.end(target);
        }
    }

    @Test
    void isForProcessesThatAreNamed() throws IOException, InterruptedException {
        for (String what : List.of("--all", asked.toString())) {
            assertThat(usage("--lossless", what, "asked:fast")).contains("--lossless", "-p or -c");
        }
        String pid = Long.toString(ProcessHandle.current().pid());
        assertThat(usage("--buffer", "1", "-p", pid, "a:b")).contains("--buffer", "4KiB to 1GiB");
    }

    /** What is wrong with the options, in one line before the hint. */
    private static String usage(String... options) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of("trace"));
        arguments.addAll(List.of(options));
        Commands.Result result = Cli.run(arguments.toArray(String[]::new));
        assertThat(result.exitCode()).as(result.err()).isEqualTo(2);
        assertThat(result.err().lines()).hasSize(2);
        return result.err().lines().findFirst().orElseThrow();
    }

    private static void signal(String name, long pid) throws IOException, InterruptedException {
        Commands.check(List.of("kill", "-" + name, Long.toString(pid)));
    }
}
