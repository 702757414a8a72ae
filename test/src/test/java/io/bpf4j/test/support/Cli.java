package io.bpf4j.test.support;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.sys.kernel.Errno;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.Reader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/**
 * Runs the command {@code bpf4j}. A run in the JVM of the test takes a tenth of the time that a process of its own
 * takes, and is the same from the arguments to the exit code. Signals, a terminal, standard input and output of a traced
 * command, an environment and rights need a process.
 */
public final class Cli {
    private static final Logger LOG = Logger.getLogger("io.bpf4j");

    /** What the command says on standard error once a probe with one site is attached. */
    public static final String TRACING_ONE = "bpf4j: tracing 1 probe at 1 site; Ctrl-C ends\n";

    private Cli() {}

    /** The command line that starts it in a process of its own. */
    public static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(CliStart.COMMAND);
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    /** The command line that starts it on a kernel that refuses a system call: see {@link RefusingMain}. */
    public static List<String> refusing(Refusal refused, Errno errno, String... arguments) {
        List<String> command = new ArrayList<>(CliStart.command(RefusingMain.class));
        command.addAll(List.of(refused.name(), errno.name()));
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    /** The command line that starts a program which loads and pins into a folder: see {@link RefusingMain}. */
    public static List<String> journey(Path folder) {
        List<String> command = new ArrayList<>(CliStart.command(RefusingMain.class));
        command.addAll(List.of("", "", "journey", folder.toString()));
        return command;
    }

    /** The command line that starts it several times in one process: see {@link ContainedMain}. */
    public static List<String> contained(String refused, List<String> commands) {
        List<String> command = new ArrayList<>(CliStart.command(ContainedMain.class));
        command.add(refused);
        command.addAll(commands);
        return command;
    }

    /**
     * Runs it to its end in the JVM of the test, and checks that it leaves no thread. The messages that it logs are on
     * standard error.
     */
    public static Commands.Result run(String... arguments) throws IOException, InterruptedException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        StringWriter err = new StringWriter();
        Console console = new Console(out, err, Reader.nullReader());
        Handler log = logTo(console);
        LOG.addHandler(log);
        Interruption interruption = new Interruption();
        // A thread of its own: the time limit of a test interrupts the waiting, which ends the command as Ctrl-C does.
        FutureTask<Integer> command = new FutureTask<>(() -> new CommandTree(console, interruption).run(arguments));
        Thread thread = Thread.ofPlatform().name("command").daemon().start(command);
        int code;
        try {
            code = command.get();
        } catch (ExecutionException e) {
            throw new AssertionError(String.join(" ", arguments), e.getCause());
        } catch (InterruptedException e) {
            interruption.request();
            thread.join(Duration.ofMinutes(1));
            throw e;
        } finally {
            LOG.removeHandler(log);
        }
        Await.until("the command has ended its threads", Cli::threads, List::isEmpty);
        return new Commands.Result(code, out.toString(StandardCharsets.UTF_8), err.toString());
    }

    private static Handler logTo(Console console) {
        return new Handler() {
            @Override
            public void publish(LogRecord warning) {
                console.error(warning.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private static List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("bpf4j"))
                .sorted()
                .toList();
    }

    /** Runs it to its end in a process of its own. */
    public static Commands.Result start(String... arguments) throws IOException, InterruptedException {
        return Commands.run(command(arguments));
    }

    /** Runs it; it has to end with 0 and to be silent on standard error. */
    public static String check(String... arguments) throws IOException, InterruptedException {
        Commands.Result result = run(arguments);
        assertThat(result.exitCode())
                .as(Arrays.toString(arguments) + ": " + result.err())
                .isZero();
        assertThat(result.err()).isEmpty();
        return result.out();
    }

    /** Runs it; it has to end with 1 and one line on standard error, which is returned. */
    public static String fail(String... arguments) throws IOException, InterruptedException {
        return oneLine(run(arguments), 1);
    }

    /** The one line on standard error of a run that ended with this exit code; no stack trace, no blank message. */
    public static String oneLine(Commands.Result result, int exitCode) {
        assertThat(result.exitCode()).as(result.out() + result.err()).isEqualTo(exitCode);
        assertThat(result.err().lines()).as(result.err()).hasSize(1);
        assertThat(result.err()).doesNotContain("Exception").doesNotContain("\tat ");
        return result.err().strip();
    }
}
