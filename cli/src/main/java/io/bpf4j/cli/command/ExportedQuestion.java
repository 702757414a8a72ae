package io.bpf4j.cli.command;

import io.bpf4j.cli.export.Exported;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.output.Text;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.opentelemetry.AnswerProducer;
import io.bpf4j.metrics.prometheus.AnswerCollector;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.thread.Threads;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.trace.RunningProgram.Usage;
import io.bpf4j.usdt.UsdtProbe;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A question of the agent. Its own thread attaches it, keeps it attached and detaches it, as the question's command
 * does, so it has the same probes. It prints no answer: the answer is read as metrics. <i>Thread-safe.</i>
 *
 * <p>A suspended question ends as at a terminal, so nothing of it is left in the kernel; its counts are kept. When it
 * is resumed, it is loaded and attached again.
 *
 * <p>Tested by {@code CliExportTest}.
 */
final class ExportedQuestion implements Exported {
    /** How often to check whether the process still runs. The end of the agent does not wait for it. */
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private static final int MAX_FORMER_GAPS = 10;

    private static final Usage NOTHING = new Usage(0, 0, OptionalInt.empty(), Duration.ZERO, 0);

    private final Console console;
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();
    private final Thread thread;

    /** When the process of the question was started; another process may get its pid later. */
    private final OptionalLong processStart;

    private volatile Run run;
    private volatile @Nullable Metrics metrics;

    /** Why it has ended; empty if it runs. */
    private volatile Optional<String> end = Optional.empty();

    /** Why the answer could not be read the last time; empty if it could. */
    private volatile Optional<String> unread = Optional.empty();

    private final Suspension suspension = new Suspension();

    /** Why answers before the last suspension may lack events. */
    private volatile List<String> formerGaps = List.of();

    /** What is missing because files were replaced, besides the gaps of the answer. */
    private volatile List<String> ofReplaced = List.of();

    /** The answer as metrics, for Prometheus and for OTLP. */
    private record Metrics(AnswerCollector collector, AnswerProducer explicit, AnswerProducer exponential) {
        static Metrics of(Answer answer, AnswerMetric metric) {
            return new Metrics(
                    new AnswerCollector(answer, metric),
                    AnswerProducer.explicit(answer, metric),
                    AnswerProducer.exponential(answer, metric));
        }

        void keep() {
            collector.keep();
            explicit.keep();
            exponential.keep();
        }

        void goOn(Answer next) {
            collector.goOn(next);
            explicit.goOn(next);
            exponential.goOn(next);
        }
    }

    /** One run of the question: until it ends, or is suspended. */
    private final class Run extends QuestionRun {
        private final ExportedLine line;
        private final Interruption interruption = new Interruption();

        /** The cost of the programs of the previous runs. */
        private final Usage before;

        private volatile @Nullable Answer answer;

        /** The cost of all programs, set when this run was detached because of a suspension. */
        private volatile Optional<Usage> total = Optional.empty();

        Run(ExportedLine line, Usage before) {
            super(
                    console,
                    line.command().options.target(),
                    OptionalLong.empty(),
                    OptionalLong.empty(),
                    line.command().options.factory(line.completion()));
            this.line = line;
            this.before = before;
        }

        @Override
        public Answer load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
            Answer loaded = super.load(probes, functions);
            try {
                Metrics known = metrics;
                if (known == null) {
                    metrics = Metrics.of(loaded, line.metric());
                } else {
                    known.goOn(loaded);
                }
                answer = loaded;
                return loaded;
            } catch (IllegalArgumentException e) {
                loaded.close();
                throw new UsageException(e);
            } catch (RuntimeException | Error e) {
                loaded.close();
                throw e;
            }
        }

        /** Called when everything is attached. */
        @Override
        public void poll(Duration patience) {
            boolean _ = begun.complete(true);
            counts(this);
            super.poll(PATIENCE);
        }

        @Override
        public boolean needsAllProbes() {
            return line.command().needsAllProbes();
        }

        @Override
        public boolean attachesAgain() {
            return true;
        }

        @Override
        public void missing(List<String> why) {
            if (!why.equals(ofReplaced)) {
                ofReplaced = why;
                why.forEach(reason -> console.error("bpf4j: " + Text.printable(reason)));
            }
        }

        @Override
        public void ended() {
            suspension.end(ExportedQuestion.this::keep, super::ended);
        }

        /** Nothing is printed; what was counted before a suspension is kept. */
        @Override
        public void finish(List<Diagnostic> gaps) {
            Answer known = answer;
            Metrics counted = metrics;
            if (suspension.why().isEmpty() || known == null || counted == null) {
                return;
            }
            try {
                Usage last = usage(known);
                formerGaps = Stream.concat(
                                Stream.concat(
                                        Stream.of("it was suspended: events of that time are missing"),
                                        formerGaps.stream()),
                                Stream.concat(gaps.stream().map(Diagnostic::message), ofReplaced.stream()))
                        .distinct()
                        .limit(MAX_FORMER_GAPS)
                        .toList();
                counted.keep();
                total = Optional.of(new Usage(0, 0, OptionalInt.empty(), last.runTime(), last.runs()));
            } catch (IllegalStateException e) {
                throw new CommandException(String.valueOf(e.getMessage()), e);
            }
        }

        private Usage usage(Answer known) {
            Usage now = known.usage();
            return new Usage(
                    now.probes(),
                    now.sites(),
                    now.processes(),
                    now.runTime().plus(before.runTime()),
                    now.runs() + before.runs());
        }

        /** What the question is attached to, and what it has cost so far. */
        Usage usage() {
            Answer known = answer;
            return total.orElseGet(() -> known == null ? before : usage(known));
        }
    }

    private ExportedQuestion(ExportedLine line, Console console) {
        this.console = console;
        this.processStart = start(line);
        this.run = new Run(line, NOTHING);
        this.thread = Thread.ofPlatform()
                .name("bpf4j question " + line.source().name())
                .daemon()
                .unstarted(this::run);
    }

    private static OptionalLong start(ExportedLine line) {
        OptionalInt process = line.command().options.target().process();
        return process.isEmpty() ? OptionalLong.empty() : new Tasks(Host.running()).start(process.getAsInt());
    }

    /**
     * Starts the question, and returns when it counts.
     *
     * @param stop completed when the agent is to end
     * @throws CommandException if it can't be started; the message says why
     * @throws CancellationException if the agent is to end; the question ends with it
     */
    static ExportedQuestion start(ExportedLine line, Console console, CompletableFuture<Boolean> stop) {
        ExportedQuestion question =
                new ExportedQuestion(line, console.of(line.source().name()));
        question.thread.start();
        try {
            Object _ = CompletableFuture.anyOf(question.begun, stop).join();
        } catch (CompletionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new CommandException(ErrorText.of(cause), cause);
        }
        if (!question.begun.isDone()) {
            question.stop();
            throw new CancellationException();
        }
        return question;
    }

    private void run() {
        try {
            do {
                ask(run);
            } while (isToGoOn());
            end = Optional.of("the process of the question has ended");
        } catch (IOException | RuntimeException | Error e) {
            end = Optional.of(ErrorText.of(e));
            if (begun.completeExceptionally(e)) {
                return; // the thread that waits for the start reports it
            }
        }
        if (!suspension.isStopping()) {
            console.error("bpf4j: ended: " + end.orElse(""));
        }
    }

    private void ask(Run current) throws IOException {
        try {
            TargetRun.of(
                            console,
                            current.interruption,
                            current.line.command().options.target())
                    .run(current);
        } catch (CommandException e) {
            // At a terminal, an end without any probe is a failure. Here probes may appear when the question is
            // resumed.
            if (current.total.isEmpty()) {
                throw e;
            }
        }
    }

    /** Waits while the question is suspended. Returns whether it is to start again. */
    private boolean isToGoOn() {
        if (!suspension.awaitTurn()) {
            return false;
        }
        ExportedLine again = run.line.again();
        if (processStart.isPresent() && !start(again).equals(processStart)) {
            return false;
        }
        // In this order: a concurrent stop() either sees the new run and ends it, or its request is seen below.
        run = new Run(again, run.usage());
        return !suspension.isStopping();
    }

    /** A run is attached. */
    private void counts(Run current) {
        boolean goesOn;
        synchronized (this) {
            goesOn = !current.interruption.requested() && suspension.counts();
        }
        if (goesOn) {
            console.error("bpf4j: resumed");
        }
    }

    /**
     * The thread of the question reads and keeps the counts, because that may wait for a concurrent read of the
     * metrics.
     */
    @Override
    public void suspend(String why) {
        if (begin(why)) {
            console.error("bpf4j: " + why); // last, because standard error may block
        }
    }

    /** In one step, so that a run that is about to end is not taken for one that continues. */
    private synchronized boolean begin(String why) {
        boolean begun = end.isEmpty() && suspension.begin(why);
        if (begun) {
            interrupt();
        }
        return begun;
    }

    /** Ends the run, once: a second request would mean not to wait until everything is detached. */
    private synchronized void interrupt() {
        if (!run.interruption.requested()) {
            run.interruption.request();
        }
    }

    private void keep() {
        Metrics counted = metrics;
        if (counted != null) {
            counted.keep();
        }
    }

    @Override
    public boolean isSuspended() {
        return suspension.why().isPresent() && end.isEmpty();
    }

    @Override
    public void resume() {
        suspension.resume();
    }

    @Override
    public MetricSnapshots collect() {
        Metrics known = metrics;
        return known == null ? MetricSnapshots.of() : read(known.collector()::collect, MetricSnapshots.of());
    }

    @Override
    public Collection<MetricData> produce(Resource resource, boolean preferExponential) {
        Metrics known = metrics;
        if (known == null) {
            return List.of();
        }
        boolean exponential = preferExponential && run.line.metric().bounds().isEmpty();
        return read(() -> (exponential ? known.exponential() : known.explicit()).produce(resource), List.of());
    }

    private <T> T read(Supplier<T> metrics, T none) {
        try {
            T all = metrics.get();
            unread = Optional.empty();
            return all;
        } catch (RuntimeException e) {
            // The metrics of the other questions are right.
            if (unread.isEmpty()) {
                console.error("bpf4j: the answer can't be read: " + ErrorText.of(e));
            }
            unread = Optional.of(ErrorText.of(e));
            return none;
        }
    }

    @Override
    public Optional<String> problem() {
        return end.or(suspension::why).or(() -> unread);
    }

    @Override
    public List<String> gaps() {
        Answer known = run.answer;
        return known == null
                ? formerGaps
                : Stream.of(
                                formerGaps.stream(),
                                known.reasonsForGaps().stream().map(Diagnostic::message),
                                ofReplaced.stream())
                        .flatMap(reasons -> reasons)
                        .distinct()
                        .toList();
    }

    @Override
    public Optional<Usage> usage() {
        try {
            return end.isPresent() ? Optional.empty() : Optional.of(run.usage());
        } catch (IllegalStateException e) {
            return Optional.empty(); // it has ended meanwhile
        }
    }

    @Override
    public void stop() {
        suspension.stop();
        interrupt();
    }

    @Override
    public void close() {
        stop();
        Threads.join(thread);
    }
}
