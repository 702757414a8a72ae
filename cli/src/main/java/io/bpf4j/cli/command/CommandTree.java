package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.InputFile;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.OutputClosedException;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.cli.trace.StrategyChoice;
import io.bpf4j.elf.internal.text.NearestName;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.catalog.CatalogException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * The command with its subcommands, run as one function from arguments to exit code.
 *
 * <p>Every failure is reported as one line on standard error. <i>Confined.</i>
 */
public final class CommandTree {
    /** Success. */
    public static final int OK = 0;
    /** The command line is valid, but the command failed. */
    public static final int FAILED = 1;
    /** The command line is invalid. */
    public static final int USAGE = 2;

    /** The commands that load a question or the tracer; both need the same kernel features. */
    private static final Set<String> QUESTION_COMMANDS = Set.of("trace", "count", "hist", "latency", "top", "stack");

    private final Console console;

    /** The ready question for which a command runs, as the user wrote it; empty if it runs for itself. */
    private String ready = "";

    private final RootCommand root = new RootCommand();

    /**
     * The factories of the subcommands by name, in the order of the help. Each makes an annotated object or command
     * line.
     */
    private final Map<String, Supplier<Object>> commands = new LinkedHashMap<>();

    public CommandTree(Console console, Interruption interruption) {
        this.console = console;
        commands.put("demo", () -> new DemoCommand(console, interruption));
        commands.put("list", () -> new ListCommand(console));
        commands.put("trace", () -> new TraceCommand(console, interruption));
        commands.put("count", () -> new CountCommand(console, interruption));
        commands.put("hist", () -> new HistCommand(console, interruption));
        commands.put("latency", () -> new LatencyCommand(console, interruption));
        commands.put("top", () -> new TopCommand(console, interruption));
        commands.put("stack", () -> new StackCommand(console, interruption));
        commands.put("export", () -> new ExportCommand(console, interruption, this::parse));
        commands.put("merge", () -> new MergeCommand(console));
        commands.put("catalog", () -> new CatalogCommand(console));
        commands.put("load", () -> new LoadCommand(console));
        commands.put("inspect", () -> new InspectCommand(console));
        commands.put("generate", () -> new GenerateCommand(console));
        commands.put("prog", () -> new ProgCommand(console));
        commands.put("map", () -> new MapCommand(console));
        commands.put("link", () -> new LinkCommand(console));
        commands.put("btf", () -> new BtfCommand(console));
        commands.put("features", () -> new FeaturesCommand(console));
        commands.put("args", () -> takingDashes(new ArgsCommand(console)));
        commands.put("help", () -> new HelpCommand(this::isCommand, this::execute));
        commands.put("completion", () -> new CompletionCommand(console, this::whole));
        commands.put("man", () -> new ManCommand(console, this::whole));
        commands.put("adopt", () -> new AdoptCommand(console));
        ReadyCommand.groups().forEach(group -> commands.put(group, () -> ready(group, Catalog.builtIn())));
    }

    private CommandLine ready(String group, Catalog catalog) {
        return ReadyCommand.of(group, catalog, console, this::executeFor);
    }

    /** Runs the command that a ready question stands for; a question may stand for another one. */
    private int executeFor(String question, String[] line) {
        String outer = ready;
        ready = outer.isEmpty() ? question : outer;
        try {
            return execute(line);
        } finally {
            ready = outer;
        }
    }

    /** Adds the groups of questions of the user's own catalog. The file is read only if they may be needed. */
    private void addOwnGroups() {
        try {
            Catalog catalog = UserCatalog.read();
            catalog.groups().stream()
                    .filter(group -> !group.startsWith("-"))
                    .forEach(group -> commands.putIfAbsent(group, () -> ready(group, catalog)));
        } catch (IOException | CatalogException e) {
            // The other commands still work.
            console.error("bpf4j: " + ErrorText.of(e));
        }
    }

    private boolean isCommand(String name) {
        if (!commands.containsKey(name)) {
            addOwnGroups();
        }
        return commands.containsKey(name);
    }

    /** Runs the command with {@code args}. */
    public int run(String... args) {
        try {
            Optional<String> lost = InputFile.notText(args);
            int code =
                    lost.isPresent() ? usage(tree(List.of()), lost.get()) : isVersion(args) ? version() : execute(args);
            console.flush();
            return code;
        } catch (OutputClosedException e) {
            return closed(e);
        } catch (StackOverflowError | OutOfMemoryError | LinkageError e) {
            // picocli handles exceptions, but not these errors.
            return failed(e);
        }
    }

    /** {@code --version} alone does not need picocli, which takes a while to load. */
    private static boolean isVersion(String... args) {
        return args.length == 1 && (args[0].equals("--version") || args[0].equals("-V"));
    }

    private int version() {
        console.line(Version.line());
        return OK;
    }

    private int execute(String... args) {
        Collection<String> wanted = wanted(args);
        Preparation preparation = wanted.stream().allMatch(QUESTION_COMMANDS::contains) ? new Preparation() : null;
        CommandLine tree = tree(wanted);
        if (preparation != null) {
            tree.setExecutionStrategy(parsed -> {
                preparation.await();
                return new RunLast().execute(parsed);
            });
        }
        return tree.execute(args);
    }

    /**
     * The subcommands that {@code args} may need: the named one, or else all, for the help or the nearest name. picocli
     * reads the annotations of a subcommand when it is added, which takes milliseconds for each.
     */
    private Collection<String> wanted(String... args) {
        for (String arg : args) {
            if (!arg.equals("--debug")) {
                return isCommand(arg) ? List.of(arg) : commands.keySet();
            }
        }
        return commands.keySet();
    }

    /** picocli's model of the command with these subcommands. */
    private CommandLine tree(Collection<String> names) {
        return tree(root, names);
    }

    private CommandLine tree(Object top, Collection<String> names) {
        CommandLine tree = new CommandLine(top);
        names.forEach(name -> tree.addSubcommand(
                name, Objects.requireNonNull(commands.get(name)).get()));
        HelpGroups.addTo(tree);
        return tree.setOut(console.outWriter())
                .setErr(console.errWriter())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setUsageHelpAutoWidth(false)
                .setUsageHelpWidth(100)
                .setExpandAtFiles(false) // @x is the name of a file, not a file of arguments
                .registerConverter(Path.class, CommandTree::path)
                .registerConverter(int.class, CommandTree::number)
                .registerConverter(Integer.class, CommandTree::number)
                .registerConverter(Long.class, CommandTree::longNumber)
                .registerConverter(Double.class, CommandTree::seconds)
                .registerConverter(StrategyChoice.class, CommandTree::strategy)
                .registerConverter(Paint.Choice.class, CommandTree::color)
                .setParameterExceptionHandler(this::onUsage)
                .setExecutionExceptionHandler(this::onFailure);
    }

    /**
     * Parses the words of a question of the agent, and does nothing.
     *
     * @throws UsageException if they are no command line
     */
    private ParseResult parse(MetricOptions metric, List<String> words) {
        if (words.stream().noneMatch(commands::containsKey)) {
            addOwnGroups();
        }
        List<String> names =
                words.stream().filter(commands::containsKey).distinct().toList();
        try {
            return tree(metric, names.isEmpty() ? commands.keySet() : names).parseArgs(words.toArray(String[]::new));
        } catch (ParameterException e) {
            throw new UsageException(problem(e));
        }
    }

    private CommandSpec whole() {
        addOwnGroups();
        return tree(commands.keySet()).getCommandSpec();
    }

    /** An argument string starts with a dash if its first argument is signed. */
    private static CommandLine takingDashes(Object command) {
        return new CommandLine(command).setUnmatchedOptionsArePositionalParams(true);
    }

    /** Converts a path with a message of its own, because picocli's message names a class. */
    private static Path path(String name) {
        try {
            return Path.of(name);
        } catch (InvalidPathException e) {
            throw new TypeConversionException(
                    "'" + name + "' is not a file name: " + e.getReason() + InputFile.encoding(name));
        }
    }

    private int closed(OutputClosedException e) {
        return e.problem().isEmpty() ? OK : failed(e);
    }

    private int onUsage(ParameterException e, String[] args) {
        return usage(e.getCommandLine(), problem(e));
    }

    private String problem(ParameterException e) {
        return e instanceof UnmatchedArgumentException unmatched
                ? unmatched(unmatched.getUnmatched().getFirst(), e.getCommandLine())
                : String.valueOf(e.getMessage());
    }

    private String unmatched(String argument, CommandLine command) {
        if (argument.length() > 1 && argument.startsWith("-")) {
            int end = argument.indexOf('=');
            String option = end < 0 ? argument : argument.substring(0, end);
            return "there is no option '" + option + "'"
                    + nearest(
                            option,
                            command.getCommandSpec().optionsMap().entrySet().stream()
                                    .filter(known -> !known.getValue().hidden())
                                    .map(Map.Entry::getKey)
                                    .toList());
        }
        return command.getParent() == null
                ? "there is no command '" + argument + "'"
                        + nearest(argument, command.getSubcommands().keySet())
                : "unexpected operand '" + argument + "'";
    }

    private static String nearest(String name, Collection<String> known) {
        return NearestName.of(name, known)
                .map(nearest -> "; the nearest is '" + nearest + "'")
                .orElse("");
    }

    private int usage(CommandLine command, String problem) {
        String name = command.getCommandSpec().qualifiedName();
        console.error((ready.isEmpty() ? name : "bpf4j " + ready) + ": " + problem);
        console.error("Try '" + name + " --help'.");
        return USAGE;
    }

    private int onFailure(Exception e, CommandLine command, ParseResult parsed) {
        if (e instanceof OutputClosedException closed) {
            return closed(closed);
        }
        if (e instanceof UsageException) {
            return usage(command, String.valueOf(e.getMessage()));
        }
        return failed(e);
    }

    private int failed(Throwable e) {
        // Earlier output is flushed before the error message, because both may go to one file.
        try {
            console.flush();
        } catch (OutputClosedException closed) {
            e.addSuppressed(closed);
        }
        console.error("bpf4j: " + ErrorText.of(e));
        if (printsStackTrace()) {
            StringWriter stack = new StringWriter();
            e.printStackTrace(new PrintWriter(stack));
            console.errorLines(stack.toString().stripTrailing().replace("\t", "    "));
        }
        return FAILED;
    }

    /** Converts a number with a message that names no Java type. */
    private static int number(String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a whole number up to " + Integer.MAX_VALUE);
        }
    }

    private static long longNumber(String text) {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("'" + text + "' is not a whole number up to " + Long.MAX_VALUE);
        }
    }

    /** A time, in seconds unless it has a unit. */
    private static double seconds(String text) {
        Matcher time = Pattern.compile("([0-9]*\\.?[0-9]+)(ns|us|ms|s|m|h|)").matcher(text);
        if (!time.matches()) {
            throw new TypeConversionException(
                    "'" + text + "' is not a time, such as 10 or 0.5 (seconds), 500ms or 2m (minutes)");
        }
        double number = Double.parseDouble(time.group(1));
        return switch (time.group(2)) {
            case "ns" -> number / 1e9;
            case "us" -> number / 1e6;
            case "ms" -> number / 1e3;
            case "m" -> number * 60;
            case "h" -> number * 3600;
            default -> number;
        };
    }

    private static StrategyChoice strategy(String text) {
        try {
            return StrategyChoice.valueOf(text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + text + "' is not auto, multi, cookie or ipmap");
        }
    }

    private static Paint.Choice color(String text) {
        try {
            return Paint.Choice.valueOf(text.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException("'" + text + "' is not auto, always or never");
        }
    }

    private boolean printsStackTrace() {
        return "1".equals(System.getenv("BPF4J_DEBUG")) || root.debug();
    }
}
