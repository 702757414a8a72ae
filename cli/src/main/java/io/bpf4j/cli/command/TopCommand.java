package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * Shows which keys have the most events now.
 *
 * <p>Tested by {@code CliTerminalTest} and {@code CliAnswersTest}.
 */
@Command(
        name = "top",
        description = {
            "Shows a table of events per second by key, the most frequent first, updated every second.",
            "At a terminal it fills the screen: h shows help, q ends and prints the last table. In a pipe, and with -c "
                    + "(the command may use the terminal), it prints one table after the other. Without --by the keys "
                    + "are process, thread name and probe. Needs the same privileges as 'trace'."
        },
        footer = {"  bpf4j top --all 'hotspot:*'", "  bpf4j top -p 4711 hotspot:object__alloc --by class --every 2"})
final class TopCommand implements Callable<Integer> {
    private static final long EVERY = 1_000_000_000;

    private final Console console;
    private final Interruption interruption;

    @Mixin
    private final QuestionOptions options = new QuestionOptions();

    TopCommand(Console console, Interruption interruption) {
        this.console = console;
        this.interruption = interruption;
    }

    @Override
    public Integer call() throws IOException {
        options.check();
        options.defaults(List.of("pid", "comm", "probe"), OptionalLong.of(EVERY));
        try (TopRun run = new TopRun(console, interruption, options)) {
            TargetRun.of(console, interruption, options.target()).run(run);
        }
        return CommandTree.OK;
    }
}
