package io.bpf4j.cli;

import io.bpf4j.cli.command.CommandTree;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;

/** Starts the command {@code bpf4j}. Exit codes: 0 done, 1 failed, 2 wrong usage. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        Interruption interruption = Interruption.ofProcess();
        System.exit(new CommandTree(Console.standard(), interruption).run(args));
    }
}
