package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.AskedQuestion;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.output.Remark;
import io.bpf4j.cli.picture.AnswerPage;
import io.bpf4j.cli.picture.History;
import io.bpf4j.cli.question.AnswerReport;
import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.cli.question.IntervalLines;
import io.bpf4j.cli.trace.Signals;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.io.Writer;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The work of a question: the kernel counts, and this class prints the answer at the end and, if the user wants it, at
 * intervals. <i>Confined.</i>
 *
 * <p>Tested by {@code CliQuestionsTest}.
 */
class QuestionRun implements TargetRun.Work {
    private final Console console;
    private final @Nullable QuestionOptions options;
    private final CountedTime counted = new CountedTime();
    private final History history = new History();
    private final TargetOptions target;
    private final OptionalLong every;
    private final OptionalLong maxEvents;
    private final QuestionFactory factory;
    private final AnswerReport report;
    private final Optional<AskedQuestion> asked;
    private final @Nullable IntervalLines lines;
    private @Nullable Answer loaded;
    private long nextReport = Long.MAX_VALUE;

    /**
     * The time in which events counted. Its length is measured, too: two times of day without fractions of a second
     * seem to be a second more or less apart than they are, and somebody may set the clock between them.
     */
    private static final class CountedTime {
        private Instant began = Instant.now();
        private Instant ended = began;
        private long start = System.nanoTime();
        private long nanos;

        /** Called before the first event counts. */
        void begin() {
            began = Instant.now();
            start = System.nanoTime();
        }

        /** Called after the last event has counted. */
        void end() {
            nanos = System.nanoTime() - start;
            ended = Instant.now();
        }

        String text() {
            // Not a constant, because time zones take a while to load, and most runs write no page.
            DateTimeFormatter day = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss z", Locale.ROOT)
                    .withZone(ZoneId.systemDefault());
            return day.format(began) + " to " + day.format(ended) + ", " + AnswerValues.withUnit(nanos, false, "ns");
        }
    }

    /** Makes the question about the probes that were found. */
    interface QuestionFactory {
        Question create(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException;
    }

    /**
     * A run.
     *
     * @param every the interval at which the answer so far is printed, in nanoseconds; empty for never
     * @param maxEvents the maximum number of events that are shown; empty if there is no bound
     */
    QuestionRun(
            Console console,
            TargetOptions target,
            OptionalLong every,
            OptionalLong maxEvents,
            QuestionFactory factory) {
        this(console, target, every, maxEvents, factory, Paint.NONE, null, Optional.empty());
    }

    private QuestionRun(
            Console console,
            TargetOptions target,
            OptionalLong every,
            OptionalLong maxEvents,
            QuestionFactory factory,
            Paint paint,
            @Nullable QuestionOptions options,
            Optional<AskedQuestion> asked) {
        this.console = console;
        this.options = options;
        this.target = target;
        this.every = every;
        this.maxEvents = maxEvents;
        this.factory = factory;
        this.asked = asked;
        this.report = new AnswerReport(console, target.json(), paint);
        this.lines = console.isTerminal() && !target.json() && every.isPresent()
                ? new IntervalLines(console, paint, every.getAsLong())
                : null;
    }

    /**
     * A run with the options of the user.
     *
     * @param asked the question, for {@code merge}
     */
    QuestionRun(Console console, QuestionOptions options, AskedQuestion asked, UnaryOperator<Question> completion) {
        this(
                console,
                options.target(),
                options.every(),
                OptionalLong.empty(),
                options.factory(completion),
                options.paint(console),
                options,
                Optional.of(asked));
    }

    @Override
    public Answer load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
        if (options != null && options.hasKey("probe")) {
            sharedNames(functions).ifPresent(console::remark);
        }
        Answer answer = load(factory.create(probes, functions));
        loaded = answer;
        // With --follow events count from the start, because a process is held while its probes are attached. The child
        // of -c is still a shell here: its events count from attached() on, as do those of control groups.
        counted.begin();
        answer.setCounting(target.follow() && target.process().isPresent());
        if (console.isTerminal()) {
            Signals.onResize(console::resized);
        }
        every.ifPresent(nanos -> nextReport = System.nanoTime() + nanos);
        return answer;
    }

    /** A row by probe has a name and not a file, so functions of one name are one row. */
    private static Optional<String> sharedNames(List<FunctionProbe> functions) {
        Map<String, Long> numbers = functions.stream()
                .collect(Collectors.groupingBy(FunctionProbe::fullName, TreeMap::new, Collectors.counting()));
        numbers.values().removeIf(number -> number == 1);
        return numbers.entrySet().stream()
                .findFirst()
                .map(first -> (numbers.size() == 1
                                ? first.getValue() + " functions are named " + first.getKey()
                                : numbers.size() + " names, such as " + first.getKey()
                                        + ", belong to several functions each")
                        + ": a row by probe is the sum of all functions with its name");
    }

    private static Answer load(Question question) {
        try {
            return question.load();
        } catch (IllegalArgumentException e) {
            // The options don't fit together; only the probes show that.
            throw new UsageException(String.valueOf(e.getMessage()));
        }
    }

    private Answer answer() {
        return Objects.requireNonNull(loaded, "load comes first");
    }

    @Override
    public void attached() {
        counted.begin();
        answer().setCounting(true);
    }

    @Override
    public void ended() {
        answer().setCounting(false);
        counted.end();
    }

    @Override
    public void poll(Duration patience) {
        answer().poll(patience, this::print);
        if (every.isPresent() && System.nanoTime() >= nextReport) {
            nextReport += every.getAsLong();
            if (options != null && options.files().areGiven()) {
                history.add(LocalTime.now(ZoneId.systemDefault()), answer().rows());
            }
            interim(answer());
        }
    }

    @Override
    public void keepUp() {
        answer().poll(Duration.ZERO, this::print);
    }

    /** Prints the answer so far. */
    void interim(Answer answer) {
        IntervalLines atTerminal = lines;
        if (atTerminal == null) {
            report.interim(answer);
        } else {
            atTerminal.print(answer);
        }
    }

    /** Ends the rows of the answer so far, if they are JSON. */
    void endInterval(long events) {
        if (target.json()) {
            report.interval(events);
        }
    }

    /** Whether standard output gets rows only, because a program reads it. */
    boolean printsRowsOnly() {
        return false;
    }

    /** Prints the answer. */
    void print(Answer answer) {
        report.rows(answer);
    }

    private AnswerPage page(QuestionOptions userOptions, Answer answer, List<Diagnostic> gaps) {
        List<Answer.Row> rows = answer.rows();
        if (every.isPresent()) {
            // Events that came after the last interval.
            history.add(LocalTime.ofInstant(counted.ended, ZoneId.systemDefault()), rows);
        }
        long events = rows.stream().mapToLong(Answer.Row::count).sum();
        String sums = AnswerReport.sums(answer.gaps(), events, gaps);
        return new AnswerPage(
                userOptions.title(),
                AnswerReport.isInSummary(rows, sums)
                        ? List.of(userOptions.line(), counted.text())
                        : List.of(userOptions.line(), counted.text(), sums),
                console.remarks().stream().map(Remark::message).toList(),
                rows,
                answer.unit().orElse(""),
                history);
    }

    /** Writes the answer as a page. */
    void html(AnswerPage page, Writer writer) throws IOException {
        page.html(writer);
    }

    /** Writes the answer as a picture. */
    void svg(AnswerPage page, Writer writer) throws IOException {
        page.svg(writer);
    }

    private void print(Answer.Event event) {
        if (!isFull()) {
            report.event(event);
        }
    }

    @Override
    public boolean isFull() {
        return maxEvents.isPresent() && report.shown() >= maxEvents.getAsLong();
    }

    @Override
    public void finish(List<Diagnostic> gaps) {
        Answer answer = answer();
        answer.drain(this::print);
        print(answer);
        TargetReport.hints(console, target, answer);
        TraceOptions.reportPaused(console, answer.stillPaused());
        report.printSums(answer, gaps, asked, printsRowsOnly());
        // Last, so that the answer is printed even if a file can't be written.
        QuestionOptions userOptions = options;
        if (userOptions != null && userOptions.files().areGiven()) {
            console.flush(); // a signal may end the write of a large page
            AnswerPage page = page(userOptions, answer, gaps);
            userOptions.files().write(writer -> html(page, writer), writer -> svg(page, writer));
        }
    }

    @Override
    public void abandon() {
        QuestionOptions userOptions = options;
        if (userOptions != null) {
            userOptions.files().abandon();
        }
    }
}
