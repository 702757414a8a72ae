package io.bpf4j.cli;

import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;

/** Starts the command {@code bpf4j}. Its exit code is 0 for success, 1 for a failure and 2 for wrong usage. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        int code;
        try {
            code = new CommandTree(Console.standard(), Interruption.ofProcess()).run(args);
        } catch (Throwable e) {
            // bpf4j's own classes can't be loaded, not even those for error messages.
            System.err.println(
                    "bpf4j: can't run: " + e + "; are there enough file descriptors (ulimit -n) and memory?");
            code = 1;
        }
        System.exit(code);
    }
}
