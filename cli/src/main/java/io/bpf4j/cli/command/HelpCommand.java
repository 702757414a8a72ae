package io.bpf4j.cli.command;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * Prints the help of bpf4j or of a command, as {@code --help} does.
 *
 * <p>Tested by {@code CommandTreeTest}.
 */
@Command(
        name = "help",
        description = "Prints the help of a command, or the list of commands.",
        footer = {"  bpf4j help", "  bpf4j help count"})
final class HelpCommand implements Callable<Integer> {
    private final Predicate<String> known;
    private final ToIntFunction<String[]> others;

    @Parameters(arity = "0..1", paramLabel = "COMMAND", description = "The command.")
    private List<String> command = List.of();

    /**
     * A command for help.
     *
     * @param known whether a command exists
     * @param others runs another command
     */
    HelpCommand(Predicate<String> known, ToIntFunction<String[]> others) {
        this.known = known;
        this.others = others;
    }

    @Override
    public Integer call() {
        List<String> line = new ArrayList<>(command);
        if (command.stream().allMatch(known)) {
            line.add("--help");
        }
        // Another name is refused, with the nearest.
        return others.applyAsInt(line.toArray(String[]::new));
    }
}
