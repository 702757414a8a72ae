package io.bpf4j.cli.command;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The headings in the help of commands that attach to probes, and the options under each. Commands share most of these
 * options, so each option is listed here once, by its longest name.
 *
 * <p>Tested by {@code CommandTreeTest}.
 */
final class HelpGroups {
    private static final String OTHERS = "Help";

    private static final Map<String, Set<String>> GROUPS = new LinkedHashMap<>();

    static {
        GROUPS.put("What to trace", Set.of("-p", "-c", "--all", "--follow", "--where"));
        GROUPS.put(
                "What to show",
                Set.of(
                        "--of",
                        "--linear",
                        "--by",
                        "--max-keys",
                        "--pair",
                        "--slower",
                        "--show",
                        "--str",
                        "--user",
                        "--kernel"));
        GROUPS.put(
                "How to show it", Set.of("--every", "--json", "--folded", "--jvm-names", "--svg", "--html", "--color"));
        GROUPS.put("When to end", Set.of("--duration", "--count"));
        GROUPS.put("When events come fast", Set.of("--buffer", "--lossless"));
        GROUPS.put("How to attach", Set.of("--no-hold", "--strategy", "--strict", "-v"));
        GROUPS.put(OTHERS, Set.of());
    }

    private HelpGroups() {}

    /** Groups the options in the help of the commands that have them. */
    static void addTo(CommandLine tree) {
        Stream.concat(Stream.of(tree), tree.getSubcommands().values().stream())
                .filter(command -> command.getCommandSpec().findOption("--strategy") != null)
                .forEach(command -> {
                    command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING, _ -> "");
                    command.getHelpSectionMap().put(UsageMessageSpec.SECTION_KEY_OPTION_LIST, HelpGroups::render);
                });
    }

    private static String render(Help help) {
        Map<String, List<OptionSpec>> groups =
                CommandText.options(help.commandSpec()).stream().collect(Collectors.groupingBy(HelpGroups::group));
        return GROUPS.keySet().stream()
                .filter(groups::containsKey)
                .map(name -> String.format("%n%s:%n", name)
                        + help.optionListExcludingGroups(groups.getOrDefault(name, List.of())))
                .collect(Collectors.joining());
    }

    private static String group(OptionSpec option) {
        return GROUPS.entrySet().stream()
                .filter(group -> group.getValue().contains(option.longestName()))
                .map(Map.Entry::getKey)
                .findFirst()
                .orElse(OTHERS);
    }
}
