package io.bpf4j.test.support;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Runs the command {@code bpf4j} as users do, in a process of its own. */
public final class Cli {
    private Cli() {}

    /** The command line that starts it. */
    public static List<String> command(String... arguments) {
        List<String> command = new ArrayList<>(CliStart.COMMAND);
        command.addAll(Arrays.asList(arguments));
        return command;
    }

    /** Runs it to its end. */
    public static Commands.Result run(String... arguments) throws IOException, InterruptedException {
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
