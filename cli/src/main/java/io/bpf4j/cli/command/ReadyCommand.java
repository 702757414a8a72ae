package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Table;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.ReadyQuestion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.ToIntBiFunction;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/**
 * The questions of the catalog about one kind of program, such as {@code bpf4j jvm gc}. Each stands for a command line
 * of another command, to which the user adds the target and options.
 *
 * <p>Tested by {@code ReadyCommandTest} and {@code CliQuestionsTest}.
 */
@Command
final class ReadyCommand implements Callable<Integer> {
    /** The groups of the built-in catalog, with the text of their help. */
    private static final List<List<String>> GROUPS = List.of(
            List.of("jvm", "Ready questions about a JVM: gc, classes, threads and others; without a name, lists them."),
            List.of("postgres", "Ready questions about PostgreSQL: slow, locks, checkpoints and others."),
            List.of("mysql", "Ready questions about MySQL and MariaDB."),
            List.of("python", "Ready questions about Python programs: calls, gc, imports."),
            List.of("node", "Ready questions about Node.js."),
            List.of("php", "Ready questions about PHP."),
            List.of("cxx", "Ready questions about C++ programs: exceptions."),
            List.of("ruby", "Ready questions about Ruby."),
            List.of("libc", "Ready questions about glibc: mutexes, arenas."),
            List.of("qemu", "Ready questions about QEMU."));

    private final Console console;
    private final String group;
    private final ToIntBiFunction<String, String[]> others;

    @Parameters(
            arity = "0..*",
            paramLabel = "QUESTION",
            description = "The name of the question, and options of the command that it stands for.")
    private List<String> words = new ArrayList<>();

    private ReadyCommand(Console console, String group, ToIntBiFunction<String, String[]> others) {
        this.console = console;
        this.group = group;
        this.others = others;
    }

    /** The names of the groups of the built-in catalog. */
    static List<String> groups() {
        return GROUPS.stream().map(List::getFirst).toList();
    }

    /**
     * The command of a group.
     *
     * @param catalog the catalog with the groups that are not built in
     * @param others runs the command that a question stands for; the first argument is what the user wrote for it
     */
    static CommandLine of(String group, Catalog catalog, Console console, ToIntBiFunction<String, String[]> others) {
        CommandLine command = new CommandLine(new ReadyCommand(console, group, others));
        command.getCommandSpec().usageMessage().description(help(group, catalog));
        // The other command parses the words after the name.
        return command.setStopAtPositional(true);
    }

    private static String help(String group, Catalog catalog) {
        return GROUPS.stream()
                .filter(known -> known.getFirst().equals(group))
                .map(List::getLast)
                .findFirst()
                .orElseGet(() -> "Ready questions of your own: "
                        + catalog.questions(group).stream()
                                .map(ReadyQuestion::name)
                                .collect(Collectors.joining(", "))
                                .replace("%", "%%") // picocli takes it for a format
                        + ".");
    }

    @Override
    public Integer call() throws IOException {
        if (words.isEmpty()) {
            list(UserCatalog.read());
            return CommandTree.OK;
        }
        return others.applyAsInt(group + " " + words.getFirst(), line().toArray(String[]::new));
    }

    /**
     * The command line that the question stands for, with the words that were given. Says what the program must have been
     * started with.
     *
     * @throws UsageException if no question is named, or one that does not exist
     */
    List<String> line() throws IOException {
        Catalog catalog = UserCatalog.read();
        if (words.isEmpty()) {
            throw new UsageException("name a question of " + group + "; 'bpf4j " + group + "' lists them");
        }
        ReadyQuestion question = find(catalog);
        refuseCycle(catalog, question);
        List<String> given = words.subList(1, words.size());
        List<String> line = new ArrayList<>(List.of(question.command().getFirst()));
        line.addAll(given);
        line.addAll(question.command().subList(1, question.command().size()));
        if (given.contains("-v")) {
            console.error(shell(line));
        }
        // For a running JVM, the command itself checks the options.
        List<String> needs = question.flags().stream()
                .filter(need -> !need.startsWith("-XX:") || !given.contains("-p"))
                .toList();
        if (!needs.isEmpty()) {
            console.remark(needs(needs) + ", otherwise no probe fires");
        }
        return line;
    }

    /** A need without blanks is an option or a variable; other needs are sentences. */
    private static String needs(List<String> needs) {
        return "this question needs "
                + (needs.stream().anyMatch(need -> need.indexOf(' ') >= 0)
                        ? String.join(", ", needs)
                        : "a program that was started with " + String.join(" ", needs));
    }

    private ReadyQuestion find(Catalog catalog) {
        try {
            return catalog.question(group, words.getFirst());
        } catch (UnknownNameException e) {
            throw new UsageException(String.valueOf(e.getMessage()));
        }
    }

    /**
     * A question of the user's catalog can stand for another question. Refuses a question that leads back to itself.
     */
    static void refuseCycle(Catalog catalog, ReadyQuestion question) {
        List<String> chain = new ArrayList<>();
        Optional<ReadyQuestion> next = Optional.of(question);
        while (next.isPresent()) {
            String name = next.get().group() + " " + next.get().name();
            boolean isKnown = chain.contains(name);
            chain.add(name);
            if (isKnown) {
                throw new CommandException(
                        "these questions of the catalog refer to each other: " + String.join(", ", chain));
            }
            List<String> words = next.get().command();
            next = words.size() < 2
                    ? Optional.empty()
                    : catalog.questions(words.getFirst()).stream()
                            .filter(other -> other.name().equals(words.get(1)))
                            .findFirst();
        }
    }

    private void list(Catalog catalog) {
        console.line("Usage: bpf4j " + group + " QUESTION -p PID [OPTION…]");
        console.line("");
        Table table = new Table("  ");
        catalog.questions(group).forEach(question -> table.row(question.name(), question.description()));
        table.print(console);
        console.line("");
        console.line("Each stands for a command line, which -v prints; its options can be added.");
    }

    /** The command line, quoted for a shell. */
    static String shell(List<String> words) {
        return words.stream()
                .map(word -> word.matches("[-A-Za-z0-9_:./,=@%+]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" ", "bpf4j ", ""));
    }
}
