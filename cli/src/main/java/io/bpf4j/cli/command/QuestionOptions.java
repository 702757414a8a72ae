package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.AskedQuestion.Part;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The options that all questions share. <i>Confined.</i>
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
final class QuestionOptions {
    @Mixin
    private final TargetOptions target = new TargetOptions();

    @Mixin
    private final FilterOption filter = new FilterOption();

    @Option(
            names = "--by",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR[,…]",
            description = "One answer for each combination of these values: 'pid,comm'.")
    private List<String> by = new ArrayList<>();

    @Option(
            names = "--every",
            paramLabel = "T",
            description =
                    "Print the answer so far at this interval: 1 (second), 500ms; at a terminal, the events of each "
                            + "interval.")
    private @Nullable Double every;

    private boolean everyIsDefault;

    @Option(
            names = "--max-keys",
            paramLabel = "N",
            description = "Room for N combinations of --by (default: 10240, for distributions 2560); events of further "
                    + "ones are left out, and their number is printed.")
    private @Nullable Integer maxKeys;

    @Mixin
    private final ColorOption color = new ColorOption();

    @Mixin
    private final AnswerFiles files = new AnswerFiles();

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    /**
     * Checks the options before anything is done.
     *
     * @throws UsageException if they don't fit together
     */
    void check() throws IOException {
        target.check();
        Double seconds = every;
        if (seconds != null && !(seconds >= 0.01 && seconds <= 1e6)) {
            throw new UsageException("--every takes 10ms to 1000000 seconds");
        }
        Integer keys = maxKeys;
        if (keys != null && keys < 1) {
            throw new UsageException("--max-keys takes a number of keys, 1 or more");
        }
        filter.check();
        files.check();
    }

    /** Sets the keys and the interval to use if the user gives none. */
    void defaults(List<String> keys, OptionalLong everyNanos) {
        if (by.isEmpty()) {
            by = keys;
        }
        if (every == null && everyNanos.isPresent()) {
            every = everyNanos.getAsLong() / 1e9;
            everyIsDefault = true;
        }
    }

    /** The files to which the answer is written, besides standard output. */
    AnswerFiles files() {
        return files;
    }

    /** The question in a few words: the command and the probes. */
    String title() {
        CommandSpec known = command;
        return (known == null ? "" : known.name() + " ") + String.join(" ", target.names());
    }

    /** The question about all probes that are named. */
    AskedQuestion asked() {
        return filtered(AskedQuestion.about(target.names()));
    }

    /** A question with the filter. */
    AskedQuestion filtered(AskedQuestion question) {
        return filter.expression()
                .map(where -> question.with(Part.WHERE, where))
                .orElse(question);
    }

    /** The question as it was typed. */
    String line() {
        CommandSpec known = command;
        return known == null
                ? title()
                : ReadyCommand.shell(known.root().commandLine().getParseResult().originalArgs());
    }

    /** The colours of output. */
    Paint paint(Console console) {
        return color.paint(console);
    }

    TargetOptions target() {
        return target;
    }

    /** The interval between answers, in nanoseconds; empty if only the last answer is printed. */
    OptionalLong every() {
        Double seconds = every;
        return seconds == null ? OptionalLong.empty() : OptionalLong.of((long) (seconds * 1e9));
    }

    /** Whether the user gave an interval. */
    boolean everyGiven() {
        return every != null && !everyIsDefault;
    }

    /** Makes questions with filter and keys; {@code completion} adds the rest. */
    QuestionRun.QuestionFactory factory(UnaryOperator<Question> completion) {
        return (probes, functions) -> {
            Question question =
                    about(target, probes, functions).where(filter.expression().orElse(""));
            question = maxKeys == null ? question : question.withMaxKeys(maxKeys);
            return completion.apply(by.isEmpty() ? question : question.by(split("--by", by)));
        };
    }

    /** Whether this value is a key that the user gave. */
    boolean hasKey(String value) {
        return by.stream()
                .flatMap(list -> Expression.split(list).stream())
                .anyMatch(expression -> expression.strip().equals(value));
    }

    /**
     * The keys, as they were given.
     *
     * @throws UsageException if one of them is empty
     */
    List<String> keys() {
        return by.isEmpty() ? List.of() : List.of(split("--by", by));
    }

    /** The expressions of filter and keys. */
    List<String> expressions() {
        return Stream.concat(filter.expression().stream(), keys().stream()).toList();
    }

    /** A question about probes and functions, without filter and keys. */
    static Question about(TargetOptions target, List<UsdtProbe> probes, List<FunctionProbe> functions)
            throws IOException {
        Question question = Question.on(probes).alsoOn(functions.toArray(FunctionProbe[]::new));
        return target.groups()
                .map(question::within)
                .orElse(question)
                .withCatalog(UserCatalog.read())
                .withFeatures(target.strategy().features(Features.ofRunningKernel()))
                .withStrict(target.strict())
                .expecting(target.filesMayAppear() ? target.patterns() : List.of());
    }

    /**
     * The expressions of an option that takes a list and may be given several times.
     *
     * @throws UsageException if one of them is empty
     */
    static String[] split(String option, List<String> lists) {
        String[] all =
                lists.stream().flatMap(list -> Expression.split(list).stream()).toArray(String[]::new);
        if (Arrays.asList(all).contains("")) {
            throw new UsageException(option + ": there is an empty expression in '" + String.join(",", lists) + "'");
        }
        return all;
    }
}
