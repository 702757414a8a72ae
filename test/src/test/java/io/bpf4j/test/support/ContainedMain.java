package io.bpf4j.test.support;

import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Runs the command several times in one process, whose rights and files were limited before it started: {@code "BPF
 * EPERM" "load FILE" "trace -p 4711 …"}. The first argument is the system call that is refused from the beginning, with
 * the error, or empty. A command that sees no event is run again, until it does.
 *
 * <p>Prints a line for each: exit code, what it wrote to standard output and to standard error, separated by tabs, with
 * {@code \n} for line breaks.
 */
public final class ContainedMain {
    private static final Pattern NO_EVENT = Pattern.compile("(^|\\n)0 events");

    private ContainedMain() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        if (!arguments[0].isEmpty()) {
            String[] refused = arguments[0].split(" ", 2);
            Refusal.valueOf(refused[0]).begin(Errno.valueOf(refused[1]));
        }
        for (String words : List.copyOf(Arrays.asList(arguments).subList(1, arguments.length))) {
            Commands.Result result =
                    Await.until("an event, or an error", () -> Cli.run(words.split(" ", -1)), ContainedMain::isOver);
            System.out.println(result.exitCode() + "\t" + oneLine(result.out()) + "\t" + oneLine(result.err()));
        }
    }

    private static boolean isOver(Commands.Result result) {
        return result.exitCode() != 0 || !NO_EVENT.matcher(result.out()).find();
    }

    private static String oneLine(String text) {
        return text.strip().replace("\t", " ").replace("\n", "\\n");
    }
}
