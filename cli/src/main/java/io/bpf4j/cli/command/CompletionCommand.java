package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.question.UserCatalog;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;

/**
 * Prints a script with which a shell completes the command line.
 *
 * <p>Tested by {@code CliCompletionTest}.
 */
@Command(
        name = "completion",
        description = "Prints a script with which a shell completes commands, options and the names of questions.",
        footer = {
            "  bpf4j completion bash > /etc/bash_completion.d/bpf4j",
            "  bpf4j completion zsh > /usr/local/share/zsh/site-functions/_bpf4j"
        })
final class CompletionCommand implements Callable<Integer> {
    private final Console console;
    private final Supplier<CommandSpec> root;

    @Parameters(paramLabel = "SHELL", description = "bash or zsh.")
    private String shell = "";

    /** @param root the command with all subcommands */
    CompletionCommand(Console console, Supplier<CommandSpec> root) {
        this.console = console;
        this.root = root;
    }

    @Override
    public Integer call() throws IOException {
        CompletionScript script = new CompletionScript(root.get(), UserCatalog.read());
        String text = switch (shell) {
            case "bash" -> script.bash();
            case "zsh" -> script.zsh();
            default -> throw new UsageException("'" + shell + "' is neither bash nor zsh");
        };
        text.lines().forEach(console::line);
        return CommandTree.OK;
    }
}
