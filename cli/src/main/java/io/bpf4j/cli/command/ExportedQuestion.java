package io.bpf4j.cli.command;

import io.bpf4j.cli.export.Exported;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.bpf4j.cli.trace.Interruption;
import io.bpf4j.metrics.opentelemetry.AnswerProducer;
import io.bpf4j.metrics.prometheus.AnswerCollector;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.internal.thread.Threads;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.FunctionProbe;
import io.bpf4j.usdt.UsdtProbe;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A question of the agent, which a thread of its own attaches, keeps attached and detaches, as the question's command
 * does: so it is about the same probes. It prints no answer, since readers of metrics read it. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliExportTest}.
 */
final class ExportedQuestion extends QuestionRun implements Exported {
    /** How often to look whether the process still runs. An end of the agent does not wait for it. */
    private static final Duration PATIENCE = Duration.ofMillis(200);

    private final ExportedLine line;
    private final Console console;
    private final Interruption interruption = new Interruption();
    private final CompletableFuture<Boolean> begun = new CompletableFuture<>();
    private final Thread thread;
    private volatile @Nullable Answer answer;
    private volatile @Nullable AnswerCollector metrics;
    private volatile @Nullable MetricProducer explicit;
    private volatile @Nullable MetricProducer exponential;

    /** Why it has ended; empty if it runs. */
    private volatile Optional<String> end = Optional.empty();

    /** Why the last reader got nothing; empty if it got all. */
    private volatile Optional<String> unread = Optional.empty();

    private ExportedQuestion(ExportedLine line, Console console) {
        super(
                console,
                line.command().options.target(),
                OptionalLong.empty(),
                OptionalLong.empty(),
                line.command().options.factory(line.completion()));
        this.line = line;
        this.console = console;
        this.thread = Thread.ofPlatform()
                .name("bpf4j question " + line.source().name())
                .daemon()
                .unstarted(this::run);
    }

    /**
     * Asks, and returns when the question counts.
     *
     * @param stop completed when the agent is to end
     * @throws CommandException if it can't be asked; the message says why
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
            TargetRun.of(console, interruption, line.command().options.target()).run(this);
            end = Optional.of("the process that it was about has ended");
        } catch (IOException | RuntimeException | Error e) {
            end = Optional.of(ErrorText.of(e));
            if (begun.completeExceptionally(e)) {
                return; // whoever waits for the beginning says why
            }
        }
        if (!interruption.requested()) {
            console.error("bpf4j: ended: " + end.orElse(""));
        }
    }

    @Override
    public Answer load(List<UsdtProbe> probes, List<FunctionProbe> functions) throws IOException {
        Answer loaded = super.load(probes, functions);
        try {
            metrics = new AnswerCollector(loaded, line.metric());
            explicit = AnswerProducer.explicit(loaded, line.metric());
            exponential = AnswerProducer.exponential(loaded, line.metric());
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

    /** Called when all is attached. */
    @Override
    public void poll(Duration patience) {
        boolean _ = begun.complete(true);
        super.poll(PATIENCE);
    }

    @Override
    public boolean needsAllProbes() {
        return line.command().needsAllProbes();
    }

    @Override
    public void finish(List<Diagnostic> gaps) {
        // Nothing is printed.
    }

    @Override
    public MetricSnapshots collect() {
        AnswerCollector known = metrics;
        return known == null ? MetricSnapshots.of() : read(known::collect, MetricSnapshots.of());
    }

    @Override
    public Collection<MetricData> produce(Resource resource, boolean preferExponential) {
        MetricProducer known = preferExponential && line.metric().bounds().isEmpty() ? exponential : explicit;
        return known == null ? List.of() : read(() -> known.produce(resource), List.of());
    }

    private <T> T read(Supplier<T> metrics, T none) {
        try {
            T all = metrics.get();
            unread = Optional.empty();
            return all;
        } catch (RuntimeException e) {
            // The metrics of the other questions are right.
            if (unread.isEmpty()) {
                console.error("bpf4j: can't be read: " + ErrorText.of(e));
            }
            unread = Optional.of(ErrorText.of(e));
            return none;
        }
    }

    @Override
    public Optional<String> problem() {
        return end.or(() -> unread);
    }

    @Override
    public List<String> gaps() {
        Answer known = answer;
        return known == null
                ? List.of()
                : known.reasonsForGaps().stream().map(Diagnostic::message).toList();
    }

    @Override
    public void stop() {
        // A second request would mean that nobody wants to wait until all is detached.
        if (!interruption.requested()) {
            interruption.request();
        }
    }

    @Override
    public void close() {
        stop();
        Threads.join(thread);
    }
}
