package io.bpf4j.cli.otlp;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.MessageWriter;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * Sends a push by the HTTP client of the JDK. Whatever the server does, a push ends in time, and takes no more memory
 * than itself and {@link #MAX_ANSWER} bytes of the response.
 *
 * <p>Why not the library's sender for the JDK ({@code opentelemetry-exporter-sender-jdk}): it limits the time until the
 * headers of the response have arrived, but not the time for the body, so a collector that sends a byte now and then
 * would stop all pushes for good. Nor can it cancel a push, which the end of the agent needs. The library has an
 * interface for other senders, which this class implements. Like the library's, it tries again as the retry policy
 * says.
 *
 * <p>{@link #send} returns when the outcome is known, and is called by one thread; {@link #cut} may be called by any
 * thread.
 *
 * <p>Tested by {@code PusherTest}.
 */
final class OtlpSender implements HttpSender {
    /** The maximum size of a response in bytes. A collector's is empty, or one message. */
    static final int MAX_ANSWER = 1 << 16;

    /** The headers whose values are no secret. */
    private static final Set<String> KNOWN = Set.of("content-type", "content-encoding", "user-agent");

    /** The fraction by which the wait for another attempt varies, so that many agents don't try at the same time. */
    private static final double JITTER = 0.2;

    private final HttpSenderConfig config;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient client;

    /** Counted down when the agent ends. Then there is no wait for another attempt. */
    private final CountDownLatch ending = new CountDownLatch(1);

    private volatile @Nullable CompletableFuture<?> running;

    /** Whether the running push was cancelled. The client reports a cancelled exchange by various exceptions. */
    private volatile boolean wasCut;

    private volatile Duration limit;
    private @Nullable Outcome last;

    OtlpSender(HttpSenderConfig config) {
        this.config = config;
        this.limit = config.getTimeout();
        HttpClient.Builder builder = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .connectTimeout(config.getConnectTimeout())
                .executor(threads);
        SSLContext tls = config.getSslContext();
        if (tls != null) {
            builder.sslContext(tls);
        }
        client = builder.build();
    }

    /** The outcome of the last push; null if it was not sent. */
    @Nullable
    Outcome takeLast() {
        Outcome outcome = last;
        last = null;
        return outcome;
    }

    @Override
    public void send(MessageWriter message, Consumer<HttpResponse> onResponse, Consumer<Throwable> onError) {
        Outcome outcome;
        wasCut = false;
        try {
            outcome = push(body(message), System.nanoTime() + limit.toNanos());
        } catch (IOException e) {
            outcome = Outcome.failed("write", "the metrics could not be encoded: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            outcome = Outcome.failed("cut", "it was cut short");
        }
        last = outcome;
        if (outcome.taken()) {
            onResponse.accept(new Taken());
        } else {
            onError.accept(new IOException(outcome.text()));
        }
    }

    /** The response as the exporter reads it. */
    private record Taken() implements HttpResponse {
        @Override
        public int getStatusCode() {
            return 200;
        }

        @Override
        public String getStatusMessage() {
            return "OK";
        }

        @Override
        public byte[] getResponseBody() {
            return new byte[0];
        }
    }

    private byte[] body(MessageWriter message) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.max(32, message.getContentLength()));
        Compressor compressor = config.getCompressor();
        if (compressor == null) {
            message.writeMessage(bytes);
        } else {
            try (OutputStream compressed = compressor.compress(bytes)) {
                message.writeMessage(compressed);
            }
        }
        return bytes.toByteArray();
    }

    private HttpRequest request(byte[] body) {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(config.getEndpoint()).header("Content-Type", config.getContentType());
        Compressor compressor = config.getCompressor();
        if (compressor != null) {
            request.header("Content-Encoding", compressor.getEncoding());
        }
        config.getHeadersSupplier()
                .get()
                .forEach((name, values) -> values.forEach(value -> request.header(name, value)));
        return request.POST(BodyPublishers.ofByteArray(body)).build();
    }

    /** @param end by {@code System.nanoTime()} */
    private Outcome push(byte[] body, long end) throws InterruptedException {
        HttpRequest request = request(body);
        RetryPolicy policy = config.getRetryPolicy();
        int attempts = policy == null ? 1 : policy.getMaxAttempts();
        double pause = policy == null ? 0 : (double) policy.getInitialBackoff().toNanos();
        for (int attempt = 1; ; attempt++) {
            Outcome outcome = attempt(request, end);
            if (!outcome.transientFailure() || attempt >= attempts || policy == null) {
                return outcome;
            }
            ThreadLocalRandom random = ThreadLocalRandom.current();
            double usual = Math.min(pause, (double) policy.getMaxBackoff().toNanos())
                    * random.nextDouble(1 - JITTER, 1 + JITTER);
            // Not before the time that the collector asks for.
            double asked = outcome.retryAfter().toNanos() * random.nextDouble(1, 1 + JITTER);
            long wait = (long) Math.max(usual, asked);
            if (end - System.nanoTime() <= wait || ending.await(wait, TimeUnit.NANOSECONDS)) {
                return outcome;
            }
            pause *= policy.getBackoffMultiplier();
        }
    }

    private static List<String> secrets(HttpRequest request) {
        return request.headers().map().entrySet().stream()
                .filter(header -> !KNOWN.contains(header.getKey().toLowerCase(Locale.ROOT)))
                .flatMap(header -> header.getValue().stream())
                .toList();
    }

    private Outcome attempt(HttpRequest request, long end) throws InterruptedException {
        CompletableFuture<java.net.http.HttpResponse<byte[]>> exchange =
                client.sendAsync(request, BodyHandlers.limiting(BodyHandlers.ofByteArray(), MAX_ANSWER));
        running = exchange;
        // The limit is read after this assignment: cut() either sees the exchange, or its new limit is seen here.
        long time = Math.min(end - System.nanoTime(), limit.toNanos());
        try {
            return Outcome.of(
                    config.getEndpoint(), exchange.get(Math.max(0, time), TimeUnit.NANOSECONDS), secrets(request));
        } catch (ExecutionException e) {
            if (wasCut) {
                return Outcome.failed("cut", "it was cut short");
            }
            return Outcome.of(e.getCause() == null ? e : e.getCause(), secrets(request));
        } catch (TimeoutException e) {
            return Outcome.failed("late", "no complete response within " + limit.toMillis() / 1e3 + " s");
        } catch (CancellationException e) {
            return Outcome.failed("cut", "it was cut short");
        } finally {
            running = null;
            boolean _ = exchange.cancel(true); // no effect if the exchange has ended
        }
    }

    /**
     * Cancels a running push, which counts as failed. From now on a push has this time limit, and one attempt.
     *
     * @param time the time limit of later pushes, unless the usual one is shorter
     */
    void cut(Duration time) {
        limit = time.compareTo(limit) < 0 ? time : limit;
        ending.countDown();
        CompletableFuture<?> now = running;
        if (now != null) {
            wasCut = true;
            boolean _ = now.cancel(true);
        }
    }

    @Override
    public CompletableResultCode shutdown() {
        client.shutdownNow();
        List<Runnable> _ = threads.shutdownNow();
        return CompletableResultCode.ofSuccess();
    }
}
