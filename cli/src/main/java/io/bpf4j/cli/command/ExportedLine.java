package io.bpf4j.cli.command;

import io.bpf4j.cli.export.ConfigLine;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.elf.Bpf4jException;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.internal.expression.Expression;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/**
 * A line of the agent's file, parsed by its command.
 *
 * <p>Tested by {@code ExportCommandTest}.
 *
 * @param completion adds the parts of the question that only this command has
 * @param parser of the line
 */
record ExportedLine(
        ConfigLine source,
        AnswerMetric metric,
        NumbersCommand command,
        UnaryOperator<Question> completion,
        BiFunction<MetricOptions, List<String>, ParseResult> parser) {
    private static final String METRIC = "the answer is read as metrics";
    private static final String EVENTS = "a single event is not a metric";

    /** The options that apply only to a printed answer. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("-c", "the agent starts no command"),
            Map.entry("--duration", "the agent runs until it is ended"),
            Map.entry("--every", METRIC),
            Map.entry("--json", METRIC),
            Map.entry("--html", METRIC),
            Map.entry("--svg", METRIC),
            Map.entry("--color", METRIC),
            Map.entry("--slower", EVENTS),
            Map.entry("--show", EVENTS),
            Map.entry("--buffer", EVENTS));

    /** Why other questions are refused. */
    private static final Map<String, String> OTHERS = Map.of(
            "trace", "trace prints single events, which are not a metric; count them",
            "stack", "the answer of stack consists of stacks, which are not a metric",
            "top", "top ranks the counts of count: write count, with the keys as --by");

    /**
     * Checks a line. Needs no rights, and reads no program: whether the probes exist is checked when the question
     * starts.
     *
     * @param parser the parser of the command line, for the words of a question with these options of its metric
     * @param mistakes receives the errors
     * @return empty if the line has an error
     */
    static Optional<ExportedLine> of(
            ConfigLine line, BiFunction<MetricOptions, List<String>, ParseResult> parser, Consumer<String> mistakes) {
        List<String> found = new ArrayList<>();
        Optional<AnswerMetric> named = attempt(() -> AnswerMetric.named(line.name()), found::add);
        MetricOptions options = new MetricOptions();
        Optional<ParseResult> parsed = attempt(() -> question(options, line.question(), parser), found::add);
        Optional<ExportedLine> result = Optional.empty();
        if (parsed.isPresent()) {
            NumbersCommand command = (NumbersCommand) parsed.get().commandSpec().userObject();
            for (OptionSpec option : parsed.get().matchedOptions()) {
                for (String name : option.names()) {
                    if (REFUSED.containsKey(name)) {
                        found.add(name + " can't be used here: " + REFUSED.get(name));
                    }
                }
            }
            Optional<AnswerMetric> metric = attempt(
                    () -> options.of(
                            named.orElse(AnswerMetric.named("unnamed")),
                            command.options.keys(),
                            String.join(" ", line.question())),
                    found::add);
            for (String expression :
                    attempt(() -> expressions(command), found::add).orElse(List.of())) {
                Optional<Expression> _ = attempt(() -> Expression.parse(expression), found::add);
            }
            if (found.isEmpty()) {
                result = attempt(
                        () -> {
                            command.options.target().refuseCommand();
                            command.options.check();
                            UnaryOperator<Question> completion = command.completion();
                            Question _ = completion.apply(Question.on(List.of()));
                            return new ExportedLine(line, metric.orElseThrow(), command, completion, parser);
                        },
                        found::add);
            }
        }
        found.stream().distinct().forEach(mistakes);
        return result;
    }

    /**
     * The same line, parsed once more: a command is run once.
     *
     * @throws CommandException if the line has an error now, such as because a file of questions has changed
     */
    ExportedLine again() {
        List<String> mistakes = new ArrayList<>();
        return of(source, parser, mistakes::add).orElseThrow(() -> new CommandException(String.join("; ", mistakes)));
    }

    /** The command of a question; for a ready question, the command that it stands for. */
    private static ParseResult question(
            MetricOptions options, List<String> words, BiFunction<MetricOptions, List<String>, ParseResult> parser)
            throws IOException {
        ParseResult parsed = parser.apply(options, words).subcommand();
        while (parsed != null && parsed.commandSpec().userObject() instanceof ReadyCommand ready) {
            parsed = parser.apply(options, ready.line()).subcommand();
        }
        if (parsed == null) {
            throw new UsageException("name a question: count, hist, latency or a ready one, such as jvm gc");
        }
        if (!(parsed.commandSpec().userObject() instanceof NumbersCommand)) {
            String name = parsed.commandSpec().name();
            throw new UsageException(OTHERS.getOrDefault(
                    name, name + " is not a question with a metric; use count, hist, latency or a ready question"));
        }
        return parsed;
    }

    private static List<String> expressions(NumbersCommand command) {
        List<String> all = new ArrayList<>(command.options.expressions());
        all.addAll(command.expressions());
        return all;
    }

    /** A part of the check. */
    private interface Part<T> {
        T get() throws IOException;
    }

    private static <T> Optional<T> attempt(Part<T> part, Consumer<String> mistakes) {
        try {
            return Optional.of(part.get());
        } catch (IllegalArgumentException e) {
            mistakes.accept(String.valueOf(e.getMessage()));
        } catch (UsageException | CommandException | Bpf4jException | IOException e) {
            mistakes.accept(ErrorText.of(e));
        }
        return Optional.empty();
    }
}
