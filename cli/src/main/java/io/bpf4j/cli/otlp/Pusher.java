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
 * Pushes metrics to a collector on its own thread: at the start, at each interval, and when it is closed. One push runs
 * at a time, and a failed one is not stored: all counts run from the start of the agent, so the next push includes the
 * events of a failed one. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code PusherTest} and {@code CliExportOtlpTest}.
 */
public final class Pusher implements MultiCollector, AutoCloseable {
    /** The time limit of the last push. The end of the agent waits for it, even if the collector does not respond. */
    static final Duration LAST = Duration.ofSeconds(3);

    /** How long {@link #close} waits in addition for the thread. It is a daemon, so the JVM does not wait for it. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    /**
     * The exporter logs each failure with a stack trace. This class reports failures instead. Held, because a logger
     * that is not referenced loses its level.
     */
    private static final Logger LIBRARY = Logger.getLogger("io.opentelemetry");

    private static final MetricMetadata PUSHES = own("pushes", "Pushes that the collector accepted.", null);
    private static final MetricMetadata FAILED =
            own("failed_pushes", "Pushes that failed. Later pushes include their events.", null);
    private static final MetricMetadata REJECTED =
            own("rejected_points", "Points that the collector rejected in pushes that it accepted.", null);
    private static final MetricMetadata LAST_TAKEN =
            own("last_push_timestamp_seconds", "When the collector last accepted a push.", Unit.SECONDS);

    private final OtlpSettings settings;
    private final Source source;
    private final Console console;
    private final PushMessages messages;
    private final OtlpSender sender;
    private final OtlpHttpMetricExporter exporter;
    private final Instant created = Instant.now();
    private final CountDownLatch ending = new CountDownLatch(1);
    private final Thread thread;
    private volatile Map<String, String> headers;
    private volatile State state = new State(0, 0, 0, null, 0, Optional.empty());

    /** The metrics to push. */
    public interface Source {
        /** The current metrics of the questions. */
        Collection<MetricData> questions(Resource resource, boolean exponential);

        /** The metrics of the agent itself. */
        MetricSnapshots own();
    }

    /**
     * The state of the pushes.
     *
     * @param lastTaken when the collector last accepted a push; null if it never did
     * @param inARow the number of pushes that failed since then
     * @param problem why the last push failed, or was accepted only in part; empty if it succeeded
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
        messages = new PushMessages(console, System::nanoTime);
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
            throw new CommandException("can't push metrics: " + ErrorText.of(e), e);
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
            console.error("bpf4j: otlp: the headers are sent to " + settings.endpoint()
                    + " unencrypted, so anybody who sees the traffic can read a token in them; use https");
        }
        thread.start();
    }

    /** The address of the collector. */
    public String url() {
        return settings.endpoint().toString();
    }

    /** The time from the start of one push to that of the next. */
    public Duration every() {
        return settings.every();
    }

    /** Reads the headers again. If they can't be read, the previous ones stay, and a message says why. */
    public void reload() {
        try {
            headers = settings.currentHeaders();
        } catch (IOException | CommandException e) {
            console.error("bpf4j: otlp: " + ErrorText.of(e) + "; the previous headers are still sent");
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
                if (due - now < 0) { // a push took longer than the interval: those due meanwhile are left out
                    due = now + every;
                }
                // Pushes that are due while the collector wants none are left out, too.
                due = Math.max(due - now, asked) + now;
            } while (!ending.await(due - System.nanoTime(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // nobody interrupts this thread
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
            outcome = sent == null ? Outcome.failed("internal", "the exporter did not send the push") : sent;
        } catch (RuntimeException | Error e) {
            // The next push may succeed.
            outcome = Outcome.failed("internal", ErrorText.of(e));
        }
        State now = state.after(outcome);
        state = now;
        messages.report(outcome, settings.endpoint(), now.inARow());
        return outcome;
    }

    /** The problem of the last push, for {@code /healthz}; empty if it had none. */
    public List<String> remarks() {
        State seen = state;
        if (seen.problem().isEmpty()) {
            return List.of();
        }
        Instant taken = seen.lastTaken();
        return List.of("otlp: "
                + (seen.inARow() == 0
                        ? "the last push was accepted only in part"
                        : "no push was accepted "
                                + (taken == null ? "yet" : "since " + taken.truncatedTo(ChronoUnit.SECONDS)))
                + ": " + seen.problem().get());
    }

    /** The metrics of the pushes. */
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
     * Cancels a running push, makes the last push if the thread was started, and ends. Takes at most {@link #LAST} and
     * one second, whatever the collector does.
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
