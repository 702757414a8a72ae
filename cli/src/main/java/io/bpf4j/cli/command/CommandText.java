package io.bpf4j.cli.command;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The parts of picocli's model of the command that users see, for completion scripts and the manual page.
 *
 * <p>Tested by {@code CompletionScriptTest}.
 */
final class CommandText {
    private CommandText() {}

    /** The subcommands that are not hidden, in the order of the help. */
    static List<CommandSpec> commands(CommandSpec root) {
        return root.subcommands().values().stream()
                .map(CommandLine::getCommandSpec)
                .filter(command -> !command.usageMessage().hidden())
                .toList();
    }

    /** The options that are not hidden. */
    static List<OptionSpec> options(CommandSpec command) {
        return command.options().stream().filter(option -> !option.hidden()).toList();
    }

    static boolean takesValue(OptionSpec option) {
        return option.arity().max() > 0;
    }

    /** The names of an option's values, if it has a fixed set of them. */
    static List<String> values(OptionSpec option) {
        Iterable<String> known = option.completionCandidates();
        if (known == null || !takesValue(option)) {
            return List.of();
        }
        return StreamSupport.stream(known.spliterator(), false)
                .map(value -> value.toLowerCase(Locale.ROOT))
                .toList();
    }

    static String description(CommandSpec command) {
        return plain(command.usageMessage().description());
    }

    static String description(ArgSpec argument) {
        return plain(argument.description());
    }

    /** The first sentence, without its full stop. */
    static String headline(String description) {
        int end = description.indexOf(". ");
        String first = end < 0 ? description : description.substring(0, end);
        return first.endsWith(".") ? first.substring(0, first.length() - 1) : first;
    }

    static List<String> examples(CommandSpec command) {
        return Arrays.stream(command.usageMessage().footer())
                .map(CommandText::formatted)
                .map(String::strip)
                .toList();
    }

    static Map<String, String> exitCodes(CommandSpec command) {
        return command.usageMessage().exitCodeList();
    }

    private static String plain(String... lines) {
        return Arrays.stream(lines).map(CommandText::formatted).collect(Collectors.joining(" "));
    }

    /** The text as picocli prints it, which treats each text as a format string. */
    private static String formatted(String text) {
        return String.format(Locale.ROOT, text);
    }
}
