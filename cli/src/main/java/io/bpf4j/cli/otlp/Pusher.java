package io.bpf4j.cli.otlp;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.ErrorText;
import io.bpf4j.cli.output.Console;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.common.ComponentLoader;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.HttpSenderProvider;
import io.opentelemetry.sdk.common.export.MemoryMode;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Unit;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Pushes metrics to a collector, at the start and then again and again, on a thread of its own; the last time when it is
 * closed. One push runs at a time, and none is kept: all counts go on from the start of the agent, so the next push has
 * the events of those that failed. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code PusherTest} and {@code CliExportOtlpTest}.
 */
public final class Pusher implements MultiCollector, AutoCloseable {
    /** For the last push: whoever ends the agent waits for it, even if the collector is dead. */
    static final Duration LAST = Duration.ofSeconds(3);

    /** For what the thread does beside the last push. It is a daemon, so nothing waits for it longer. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    /** The exporter logs each failure, with a stack trace. It is said here. Held, or its level would be forgotten. */
    private static final Logger LIBRARY = Logger.getLogger("io.opentelemetry");

    private static final MetricMetadata PUSHES = own("pushes", "Pushes that the collector has taken.", null);
    private static final MetricMetadata FAILED =
            own("failed_pushes", "Pushes that the collector has not taken. The next has their events.", null);
    private static final MetricMetadata REJECTED =
            own("rejected_points", "Points that the collector says it has thrown away of pushes that it took.", null);
    private static final MetricMetadata LAST_TAKEN =
            own("last_push_timestamp_seconds", "When the collector has taken a push for the last time.", Unit.SECONDS);

    private final OtlpSettings settings;
    private final Source source;
    private final Console console;
    private final Talk talk;
    private final OtlpSender sender;
    private final OtlpHttpMetricExporter exporter;
    private final Instant created = Instant.now();
    private final CountDownLatch ending = new CountDownLatch(1);
    private final Thread thread;
    private volatile Map<String, String> headers;
    private volatile State state = new State(0, 0, 0, null, 0, Optional.empty());

    /** What is pushed. */
    public interface Source {
        /** The metrics of the questions, as they are now. */
        Collection<MetricData> questions(Resource resource, boolean exponential);

        /** What the agent says of itself. */
        MetricSnapshots own();
    }

    /**
     * What became of the pushes.
     *
     * @param lastTaken when the collector took one; null if it never did
     * @param inARow pushes that failed since then
     * @param problem why the last one failed, or was not taken in full; empty if all is well
     */
    private record State(
            long taken,
            long failed,
            long rejected,
            @Nullable Instant lastTaken,
            long inARow,
            Optional<String> problem) {
        State after(Outcome outcome) {
            Optional<String> text = outcome.text().isEmpty() ? Optional.empty() : Optional.of(outcome.text());
            return outcome.taken()
                    ? new State(taken + 1, failed, rejected + outcome.rejected(), Instant.now(), 0, text)
                    : new State(taken, failed + 1, rejected, lastTaken, inARow + 1, text);
        }
    }

    private static MetricMetadata own(String name, String help, @Nullable Unit unit) {
        return new MetricMetadata("bpf4j_otlp_" + name, help, unit);
    }

    /**
     * Pushes nothing yet.
     *
     * @throws CommandException if a certificate, a key or a header can't be used
     */
    public Pusher(OtlpSettings settings, Source source, Console console) {
        this.settings = settings;
        this.source = source;
        this.console = console;
        talk = new Talk(console, System::nanoTime);
        LIBRARY.setLevel(Level.OFF);
        try {
            headers = settings.currentHeaders();
            List<OtlpSender> made = new ArrayList<>();
            exporter = exporter(settings, config -> {
                OtlpSender one = new OtlpSender(config);
                made.add(one);
                return one;
            });
            sender = made.getFirst();
        } catch (IllegalArgumentException | IllegalStateException e) {
            throw new CommandException(
                    "the certificates or the key for " + settings.endpoint() + " can't be used: " + root(e), e);
        } catch (IOException | UncheckedIOException e) {
            throw new CommandException("no metrics can be pushed: " + ErrorText.of(e), e);
        }
        thread = Thread.ofPlatform().name("bpf4j otlp").daemon().unstarted(this::run);
    }

    private OtlpHttpMetricExporter exporter(OtlpSettings settings, HttpSenderProvider senders) {
        OtlpHttpMetricExporterBuilder builder = OtlpHttpMetricExporter.builder()
                .setEndpoint(settings.endpoint().toString())
                .setTimeout(settings.timeout())
                .setConnectTimeout(settings.timeout())
                .setHeaders(() -> headers)
                .setMemoryMode(MemoryMode.IMMUTABLE_DATA)
                .setMeterProvider(MeterProvider.noop())
                .setComponentLoader(new ComponentLoader() {
                    @Override
                    public <T> Iterable<T> load(Class<T> type) {
                        return type == HttpSenderProvider.class ? List.of(type.cast(senders)) : List.of();
                    }
                });
        if (settings.gzip()) {
            builder.setCompression("gzip");
        }
        settings.trusted().ifPresent(builder::setTrustedCertificates);
        if (!settings.client().isEmpty()) {
            builder.setClientTls(settings.client().getFirst(), settings.client().getLast());
        }
        return builder.build();
    }

    private static String root(Throwable failure) {
        Throwable root = failure;
        for (Throwable cause = root.getCause(); cause != null; cause = cause.getCause()) {
            root = cause;
        }
        return String.valueOf(root.getMessage());
    }

    /** Starts to push. */
    public void start() {
        if (!headers.isEmpty()
                && settings.endpoint().getScheme().equalsIgnoreCase("http")
                && !OtlpEndpoint.isLocal(settings.endpoint())) {
            console.error("bpf4j: otlp: the headers go to " + settings.endpoint()
                    + " unencrypted, so whoever sees the traffic can read a token in them; https hides it");
        }
        thread.start();
    }

    /** Where it pushes to. */
    public String url() {
        return settings.endpoint().toString();
    }

    /** From one push to the next. */
    public Duration every() {
        return settings.every();
    }

    /** Reads the headers again. If they can't be read, the former ones stay, and the message says why. */
    public void reload() {
        try {
            headers = settings.currentHeaders();
        } catch (IOException | CommandException e) {
            console.error("bpf4j: otlp: " + ErrorText.of(e) + "; the headers before are still sent");
        }
    }

    private void run() {
        long due = System.nanoTime();
        long every = settings.every().toNanos();
        try {
            do {
                long asked = push().retryAfter().toNanos();
                due += every;
                long now = System.nanoTime();
                if (due - now < 0) { // a push took longer: the missed ones are left out
                    due = now + every;
                }
                // Likewise those for which the collector has no time.
                due = Math.max(due - now, asked) + now;
            } while (!ending.await(due - System.nanoTime(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody does that
        }
        Outcome _ = push();
    }

    private Outcome push() {
        Outcome outcome;
        try {
            List<MetricData> metrics = new ArrayList<>(source.questions(settings.resource(), settings.exponential()));
            metrics.addAll(OwnMetrics.of(source.own(), settings.resource(), created));
            metrics.addAll(OwnMetrics.of(collect(), settings.resource(), created));
            CompletableResultCode _ = exporter.export(metrics);
            Outcome sent = sender.takeLast();
            outcome = sent == null ? Outcome.failed("internal", "the exporter did not send it") : sent;
        } catch (RuntimeException | Error e) {
            // Whatever it was, the next push may go through.
            outcome = Outcome.failed("internal", ErrorText.of(e));
        }
        State now = state.after(outcome);
        state = now;
        talk.say(outcome, settings.endpoint(), now.inARow());
        return outcome;
    }

    /** What a reader of {@code /healthz} should know; empty if all goes well. */
    public List<String> remarks() {
        State seen = state;
        if (seen.problem().isEmpty()) {
            return List.of();
        }
        Instant taken = seen.lastTaken();
        return List.of("otlp: "
                + (seen.inARow() == 0
                        ? "the last push was not taken in full"
                        : "no push was taken "
                                + (taken == null ? "yet" : "since " + taken.truncatedTo(ChronoUnit.SECONDS)))
                + ": " + seen.problem().get());
    }

    /** What it says of itself. */
    @Override
    public MetricSnapshots collect() {
        State seen = state;
        MetricSnapshots.Builder all = MetricSnapshots.builder()
                .metricSnapshot(counter(PUSHES, seen.taken()))
                .metricSnapshot(counter(FAILED, seen.failed()))
                .metricSnapshot(counter(REJECTED, seen.rejected()));
        Instant taken = seen.lastTaken();
        if (taken != null) {
            all.metricSnapshot(new GaugeSnapshot(
                    LAST_TAKEN, List.of(new GaugeDataPointSnapshot(taken.toEpochMilli() / 1e3, Labels.EMPTY, null))));
        }
        return all.build();
    }

    private CounterSnapshot counter(MetricMetadata metadata, long value) {
        return new CounterSnapshot(
                metadata, List.of(new CounterDataPointSnapshot(value, Labels.EMPTY, null, created.toEpochMilli())));
    }

    /**
     * Cuts a push that runs, makes the last one if it has been started, and ends. Takes no longer than {@link #LAST} and a
     * second, whatever the collector does.
     */
    @Override
    public void close() {
        sender.cut(LAST);
        ending.countDown();
        if (thread.isAlive()) {
            try {
                boolean _ = thread.join(LAST.plus(GRACE));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        CompletableResultCode _ = exporter.shutdown();
    }
}
