package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Prints the manual page.
 *
 * <p>Tested by {@code CliCompletionTest}.
 */
@Command(
        name = "man",
        description = "Prints the manual page of all commands, as a source for man.",
        footer = {"  bpf4j man | man -l -", "  bpf4j man > /usr/local/share/man/man1/bpf4j.1"})
final class ManCommand implements Callable<Integer> {
    private final Console console;
    private final Supplier<CommandSpec> root;

    /** @param root the command with all subcommands */
    ManCommand(Console console, Supplier<CommandSpec> root) {
        this.console = console;
        this.root = root;
    }

    @Override
    public Integer call() {
        new ManPage(root.get()).roff().lines().forEach(console::line);
        return CommandTree.OK;
    }
}
