package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.bpf4j.cli.export.ServerLimits;
import io.bpf4j.cli.output.Console;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(600) // for what hangs
class PusherTest {
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final Duration LONG = Duration.ofHours(1);

    private final StringWriter err = new StringWriter();
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch over = new CountDownLatch(1);

    @BeforeAll
    static void setLimits() {
        ServerLimits.set();
    }

    @AfterEach
    void end() {
        over.countDown();
        threads.close();
    }

    /** What a collector does with a push. */
    private interface Answer {
        void give(HttpExchange exchange) throws IOException, InterruptedException;
    }

    private static void take(HttpExchange exchange) throws IOException {
        answer(exchange, 200, "application/x-protobuf", new byte[0]);
    }

    private static void answer(HttpExchange exchange, int status, String type, byte[] body) throws IOException {
        exchange.getRequestBody().readAllBytes();
        exchange.getResponseHeaders().set("Content-Type", type);
        exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private HttpServer collector(Answer answer) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(threads);
        server.createContext("/", exchange -> {
            try (exchange) {
                answer.give(exchange);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        server.start();
        return server;
    }

    private static URI url(HttpServer server) {
        return url(server.getAddress().getPort());
    }

    private static URI url(int port) {
        return URI.create("http://127.0.0.1:" + port + "/v1/metrics");
    }

    private static OtlpSettings settings(URI endpoint, Optional<Path> headers, Duration timeout, Duration every) {
        return new OtlpSettings(
                endpoint,
                headers,
                Map.of(),
                Optional.empty(),
                List.of(),
                false,
                timeout,
                every,
                false,
                Resource.empty());
    }

    private static final Pusher.Source SOURCE = new Pusher.Source() {
        @Override
        public Collection<MetricData> questions(Resource resource, boolean exponential) {
            return List.of();
        }

        @Override
        public MetricSnapshots own() {
            return MetricSnapshots.of(GaugeSnapshot.builder()
                    .name("answer")
                    .dataPoint(GaugeDataPointSnapshot.builder().value(42).build())
                    .build());
        }
    };

    private Pusher start(OtlpSettings settings, Pusher.Source source) {
        Pusher pusher =
                new Pusher(settings, source, new Console(OutputStream.nullOutputStream(), err, Reader.nullReader()));
        pusher.start();
        return pusher;
    }

    private Pusher start(URI endpoint, Duration timeout, Duration every) {
        return start(settings(endpoint, Optional.empty(), timeout, every), SOURCE);
    }

    private static double value(Pusher pusher, String name) {
        return pusher.collect().stream()
                .filter(metric -> metric.getMetadata().getName().equals("bpf4j_otlp_" + name))
                .map(metric ->
                        ((CounterSnapshot) metric).getDataPoints().getFirst().getValue())
                .findFirst()
                .orElseThrow();
    }

    private static void await(BooleanSupplier state) throws InterruptedException {
        while (!state.getAsBoolean()) {
            Thread.sleep(5);
        }
    }

    private static void awaitTaken(Pusher pusher, int pushes) throws InterruptedException {
        await(() -> value(pusher, "pushes") >= pushes);
    }

    private static void awaitFailed(Pusher pusher, int pushes) throws InterruptedException {
        await(() -> value(pusher, "failed_pushes") >= pushes);
    }

    private List<String> lines() {
        return err.toString().lines().toList();
    }

    private void awaitLine(String part) throws InterruptedException {
        await(() -> lines().stream().anyMatch(line -> line.contains(part)));
    }

    /** What came to a collector that takes everything. */
    private record Came(String method, String path, String type, String encoding, String token, String body) {
        static Came of(HttpExchange exchange) throws IOException {
            return new Came(
                    exchange.getRequestMethod(),
                    exchange.getRequestURI().getPath(),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type")),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Content-Encoding")),
                    String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")),
                    // A character for each byte.
                    new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
        }
    }

    @Test
    void aPushIsARequestOfOtlp(@TempDir Path folder) throws IOException, InterruptedException {
        Path headers = Files.writeString(folder.resolve("headers"), "Authorization: Bearer one\n");
        Files.setPosixFilePermissions(headers, PosixFilePermissions.fromString("rw-------"));
        ConcurrentLinkedQueue<Came> came = new ConcurrentLinkedQueue<>();
        HttpServer server = collector(exchange -> {
            came.add(Came.of(exchange));
            take(exchange);
        });
        try (Pusher pusher = start(settings(url(server), Optional.of(headers), LONG, SHORT), SOURCE)) {
            awaitTaken(pusher, 2);
            assertThat(came.element())
                    .satisfies(first -> assertThat(first.method()).isEqualTo("POST"))
                    .satisfies(first -> assertThat(first.path()).isEqualTo("/v1/metrics"))
                    .satisfies(first -> assertThat(first.type()).isEqualTo("application/x-protobuf"))
                    .satisfies(first -> assertThat(first.encoding()).isEqualTo("null"))
                    .satisfies(first -> assertThat(first.token()).isEqualTo("Bearer one"))
                    .satisfies(first -> assertThat(first.body()).contains("answer", "bpf4j_otlp_pushes"));
            assertThat(pusher.remarks()).isEmpty();
            // A token that was exchanged.
            Files.writeString(headers, "Authorization: Bearer two\n");
            pusher.reload();
            await(() -> came.stream().anyMatch(push -> push.token().equals("Bearer two")));
            assertThat(lines()).isEmpty();
            // One that another user may have exchanged.
            Files.setPosixFilePermissions(headers, PosixFilePermissions.fromString("rw-rw-rw-"));
            pusher.reload();
            assertThat(lines())
                    .singleElement()
                    .asString()
                    .contains("another user can change this file")
                    .endsWith("the previous headers are still sent");
            came.clear();
            await(() -> !came.isEmpty());
            assertThat(came.element().token()).isEqualTo("Bearer two");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aPushCanBeCompressed() throws IOException, InterruptedException {
        ConcurrentLinkedQueue<Came> came = new ConcurrentLinkedQueue<>();
        HttpServer server = collector(exchange -> {
            came.add(Came.of(exchange));
            take(exchange);
        });
        OtlpSettings settings = new OtlpSettings(
                url(server),
                Optional.empty(),
                Map.of(),
                Optional.empty(),
                List.of(),
                true,
                LONG,
                LONG,
                false,
                Resource.empty());
        try (Pusher pusher = start(settings, SOURCE)) {
            awaitTaken(pusher, 1);
            assertThat(came.element().encoding()).isEqualTo("gzip");
            try (InputStream body = new GZIPInputStream(
                    new ByteArrayInputStream(came.element().body().getBytes(StandardCharsets.ISO_8859_1)))) {
                assertThat(new String(body.readAllBytes(), StandardCharsets.UTF_8))
                        .contains("answer");
            }
        } finally {
            server.stop(0);
        }
    }

    /** The first pushes are answered in this way, the next is taken. */
    private void recovers(Answer bad, String message) throws IOException, InterruptedException {
        recovers(bad, Duration.ofSeconds(2), message);
    }

    private void recovers(Answer bad, Duration timeout, String message) throws IOException, InterruptedException {
        AtomicInteger failed = new AtomicInteger();
        CountDownLatch mended = new CountDownLatch(1);
        HttpServer server = collector(exchange -> {
            if (mended.getCount() == 0) {
                take(exchange);
            } else {
                failed.incrementAndGet();
                bad.give(exchange);
            }
        });
        try (Pusher pusher = start(url(server), timeout, SHORT)) {
            awaitFailed(pusher, 2);
            awaitLine(message);
            String remark = message.split("; message", -1)[0];
            await(() -> pusher.remarks().toString().contains("otlp: no push was accepted yet: " + remark));
            assertThat(pusher.remarks().toString()).doesNotContain("message: ");
            mended.countDown();
            awaitTaken(pusher, 1);
            awaitLine(url(server) + " accepts pushes again, with all events since the start");
            assertThat(lines()).allMatch(line -> line.startsWith("bpf4j: otlp: " + url(server)));
            assertThat(lines().getFirst()).endsWith("; later pushes will include these events");
            assertThat(failed.get()).isGreaterThan(1);
        } finally {
            over.countDown();
            server.stop(0);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "400 | the collector responded with status 400; message: 'no such tenant'",
                "401 | the collector responded with status 401: the collector requires other headers (--otlp-headers); message: 'no such",
                "404 | the collector responded with status 404: /v1/metrics may not be its path for metrics; message: 'no such tenant'",
                "413 | the collector responded with status 413: the push is too large",
                "500 | the collector responded with status 500; message: 'no such tenant'",
                "503 | the collector responded with status 503; message: 'no such tenant'",
                "600 | the collector responded with status 600",
                "307 | the collector responded with status 307, a redirect; bpf4j does not follow it",
            })
    void aRefusalIsSaid(int status, String message) throws IOException, InterruptedException {
        recovers(
                exchange -> {
                    exchange.getResponseHeaders().set("Location", "http://127.0.0.1:9/x");
                    answer(exchange, status, "text/plain", bytes("no such tenant\nsecond line"));
                },
                Duration.ofMillis(500),
                message);
    }

    /** The times between the pushes to a collector that has too much to do, and says how long, in nanoseconds. */
    private List<Long> timesBetween(int status, String retryAfter, Duration timeout, int pushes)
            throws IOException, InterruptedException {
        ConcurrentLinkedQueue<Long> came = new ConcurrentLinkedQueue<>();
        HttpServer server = collector(exchange -> {
            came.add(System.nanoTime());
            exchange.getResponseHeaders().set("Retry-After", retryAfter);
            answer(exchange, status, "text/plain", bytes("busy"));
        });
        try (Pusher _ = start(url(server), timeout, SHORT)) {
            await(() -> came.size() >= pushes);
            awaitLine("the collector responded with status " + status);
        } finally {
            server.stop(0);
        }
        List<Long> times = List.copyOf(came);
        return IntStream.range(1, pushes)
                .mapToObj(i -> times.get(i) - times.get(i - 1))
                .toList();
    }

    /** The time for a push suffices for another attempt. */
    @Test
    void anAttemptWaitsAsLongAsTheCollectorAsks() throws IOException, InterruptedException {
        assertThat(timesBetween(429, "3", LONG, 2))
                .allMatch(nanos -> nanos >= Duration.ofSeconds(3).toNanos());
    }

    /** It does not suffice, and the next push would come before that. */
    @Test
    void aPushWaitsAsLongAsTheCollectorAsks() throws IOException, InterruptedException {
        assertThat(timesBetween(503, "11", Duration.ofSeconds(10), 2))
                .allMatch(nanos -> nanos >= Duration.ofSeconds(11).toNanos());
        assertThat(lines().getFirst())
                .contains("the collector responded with status 503, and no push is sent for 11 s; message: 'busy'");
    }

    /** The last push is made: there is none after it, and it has all events. */
    @Test
    void theEndWaitsForNoCollector() throws IOException, InterruptedException {
        AtomicInteger came = new AtomicInteger();
        HttpServer server = collector(exchange -> {
            came.incrementAndGet();
            exchange.getResponseHeaders().set("Retry-After", "600");
            answer(exchange, 429, "text/plain", bytes("busy"));
        });
        try {
            // Less than what it asks for, and more than a busy machine needs.
            try (Pusher pusher = start(url(server), Duration.ofMinutes(1), SHORT)) {
                awaitFailed(pusher, 1);
            }
            assertThat(came.get()).isEqualTo(2);
        } finally {
            server.stop(0);
        }
    }

    @Test
    void aPageIsNoAnswer() throws IOException, InterruptedException {
        recovers(exchange -> answer(exchange, 200, "text/html", bytes("<html>")), "the response is not OTLP");
    }

    @Test
    void bytesThatAreNoMessageAreNoAnswer() throws IOException, InterruptedException {
        recovers(
                exchange -> answer(exchange, 200, "application/x-protobuf", bytes("<html>")),
                "the response is not OTLP");
    }

    @Test
    void aConnectionThatIsClosedIsNoAnswer() throws IOException, InterruptedException {
        recovers(HttpExchange::close, Duration.ofMillis(500), "no HTTP response");
    }

    @Test
    void anAnswerThatNeverComesEndsThePush() throws IOException, InterruptedException {
        recovers(exchange -> over.await(), Duration.ofMillis(300), "no complete response within 0.3 s");
    }

    @Test
    void anAnswerThatDripsEndsThePush() throws IOException, InterruptedException {
        recovers(
                exchange -> {
                    exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(200, 0);
                    do {
                        exchange.getResponseBody().write(0);
                        exchange.getResponseBody().flush();
                    } while (!over.await(10, TimeUnit.MILLISECONDS));
                },
                Duration.ofMillis(300),
                "no complete response within 0.3 s");
    }

    /** Whoever writes it notices that nobody reads any more. */
    @Test
    void anAnswerWithoutEndIsNotRead() throws IOException, InterruptedException {
        CountDownLatch stopped = new CountDownLatch(1);
        recovers(
                exchange -> {
                    exchange.getRequestBody().readAllBytes();
                    exchange.sendResponseHeaders(200, 0);
                    byte[] much = new byte[1 << 16];
                    try {
                        while (over.getCount() > 0) {
                            exchange.getResponseBody().write(much);
                        }
                    } catch (IOException e) {
                        stopped.countDown();
                        throw e;
                    }
                },
                "the response is longer than 64 KiB");
        stopped.await();
    }

    @Test
    void pointsThatACollectorThrowsAwayAreCounted() throws IOException, InterruptedException {
        byte[] partial = HexFormat.of().parseHex("0a0c08ac021207746f6f206f6c64");
        HttpServer server = collector(exchange -> answer(exchange, 200, "application/x-protobuf", partial));
        try (Pusher pusher = start(url(server), LONG, SHORT)) {
            awaitTaken(pusher, 2);
            assertThat(value(pusher, "rejected_points")).isGreaterThanOrEqualTo(600);
            assertThat(pusher.remarks())
                    .containsExactly("otlp: the last push was accepted only in part: the collector accepted a push,"
                            + " but rejected 300 of its points");
            assertThat(lines())
                    .containsExactly("bpf4j: otlp: " + url(server)
                            + ": the collector accepted a push, but rejected 300 of its points; message: 'too old'");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void nobodyNeedsToListenAtTheStart() throws IOException, InterruptedException {
        // A port that is taken, at which nobody listens.
        try (Socket taken = new Socket()) {
            taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            URI url = url(taken.getLocalPort());
            try (Pusher pusher = start(url, Duration.ofMillis(500), SHORT)) {
                awaitFailed(pusher, 2);
                awaitLine("bpf4j: otlp: " + url + ": can't connect: nothing listens at this address, or it can't be"
                        + " reached");
            }
        }
    }

    @Test
    void aHostThatIsNotKnownIsSaid() throws InterruptedException {
        try (Pusher pusher =
                start(URI.create("http://no-such-host.invalid/v1/metrics"), Duration.ofMillis(500), SHORT)) {
            awaitFailed(pusher, 1);
            await(() -> !lines().isEmpty());
            assertThat(lines().getFirst()).containsAnyOf("the host is unknown", "no complete response within 0.5 s");
        }
    }

    /** Another protocol, such as that of a mail server. */
    @Test
    void whatIsNoHttpIsSaid() throws IOException, InterruptedException {
        try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            threads.execute(() -> {
                try {
                    while (true) {
                        try (Socket socket = server.accept()) {
                            socket.getOutputStream().write(bytes("220 mail\u001b[2J\r\n\r\n"));
                            int _ = socket.getInputStream().read();
                        }
                    }
                } catch (IOException e) {
                    // The test has closed the server.
                }
            });
            try (Pusher pusher = start(url(server.getLocalPort()), Duration.ofMillis(500), SHORT)) {
                awaitFailed(pusher, 2);
                awaitLine("no HTTP response");
                assertThat(lines()).noneMatch(line -> line.contains("\u001b"));
            }
        }
    }

    /** Headers, and answers that announce the answer. */
    @ParameterizedTest
    @CsvSource({"HTTP/1.1 200 OK, X-More: and more", "'', HTTP/1.1 103 Early Hints"})
    void linesWithoutEndEndThePush(String first, String repeated) throws IOException, InterruptedException {
        byte[] start = bytes(first.isEmpty() ? "" : first + "\r\n");
        byte[] line = bytes(repeated + "\r\n" + (first.isEmpty() ? "\r\n" : ""));
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            threads.execute(() -> {
                while (!server.isClosed()) {
                    try (Socket socket = server.accept()) {
                        socket.getOutputStream().write(start);
                        while (over.getCount() > 0) {
                            socket.getOutputStream().write(line);
                        }
                    } catch (IOException e) {
                        // The pusher has closed the connection, or the test the server.
                    }
                }
            });
            try (Pusher pusher = start(url(server.getLocalPort()), Duration.ofSeconds(1), SHORT)) {
                awaitFailed(pusher, 2);
                assertThat(lines()).isNotEmpty();
            }
            over.countDown();
        }
    }

    /** A collector that hangs: the push that runs is cut, and the last one has its time and no more. */
    @Test
    void theEndWaitsForNobody() throws IOException, InterruptedException {
        AtomicInteger pushes = new AtomicInteger();
        HttpServer server = collector(exchange -> {
            pushes.incrementAndGet();
            over.await();
        });
        try {
            try (Pusher _ = start(url(server), LONG, LONG)) {
                await(() -> pushes.get() == 1);
            } // would take an hour
            await(() -> pushes.get() == 2 && !lines().isEmpty());
            // On a slow machine the end does not wait until the time of the last push is over.
            assertThat(lines())
                    .singleElement()
                    .asString()
                    .containsAnyOf("no complete response within 3.0 s", "no HTTP response");
        } finally {
            over.countDown();
            server.stop(0);
        }
    }

    @Test
    void theLastPushIsMadeAtTheEnd() throws IOException, InterruptedException {
        AtomicInteger pushes = new AtomicInteger();
        HttpServer server = collector(exchange -> {
            pushes.incrementAndGet();
            take(exchange);
        });
        Pusher pusher = start(url(server), LONG, LONG);
        try (pusher) {
            awaitTaken(pusher, 1);
        }
        assertThat(value(pusher, "pushes")).isEqualTo(2);
        server.stop(0);
        assertThat(pushes).hasValue(2);
        assertThat(lines()).isEmpty();
    }

    @Test
    void whatCanNotBeReadIsSaidAndTheNextPushGoesThrough() throws IOException, InterruptedException {
        CountDownLatch mended = new CountDownLatch(1);
        HttpServer server = collector(PusherTest::take);
        Pusher.Source source = new Pusher.Source() {
            @Override
            public Collection<MetricData> questions(Resource resource, boolean exponential) {
                if (mended.getCount() > 0) {
                    throw new OutOfMemoryError("test");
                }
                return List.of();
            }

            @Override
            public MetricSnapshots own() {
                return MetricSnapshots.of();
            }
        };
        try (Pusher pusher = start(settings(url(server), Optional.empty(), LONG, SHORT), source)) {
            awaitFailed(pusher, 2);
            mended.countDown();
            awaitTaken(pusher, 1);
            assertThat(lines().getFirst()).contains("out of memory");
        } finally {
            server.stop(0);
        }
    }
}
