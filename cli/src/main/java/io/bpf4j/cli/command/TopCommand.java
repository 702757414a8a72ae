package io.bpf4j.cli.command;

import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import java.io.IOException;
import java.util.List;
import java.util.OptionalLong;
import picocli.CommandLine.Command;

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
final class TopCommand extends QuestionCommand {
    private static final long EVERY = 1_000_000_000;

    TopCommand(Console console, Interruption interruption) {
        super(console, interruption);
    }

    @Override
    void ask() throws IOException {
        options.defaults(List.of("pid", "comm", "probe"), OptionalLong.of(EVERY));
        try (TopRun run = new TopRun(console, options)) {
            run(run);
        }
    }
}
