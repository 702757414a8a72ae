package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MetricsServerTest {
    @BeforeAll
    static void setLimits() {
        ServerLimits.set();
    }

    private final StringWriter err = new StringWriter();
    private final List<String> problems = new ArrayList<>();
    private final List<String> remarks = new ArrayList<>();

    private static MetricSnapshots metrics() {
        return MetricSnapshots.of(GaugeSnapshot.builder()
                .name("answer")
                .dataPoint(GaugeDataPointSnapshot.builder().value(42).build())
                .build());
    }

    private MetricsServer start(MultiCollector metrics) {
        return MetricsServer.start(
                MetricsServer.address("0"),
                metrics,
                () -> new Health(problems, remarks),
                ServerAccess.OPEN,
                new Console(OutputStream.nullOutputStream(), err, Reader.nullReader()));
    }

    private record Response(int statusCode, String type, String body) {}

    private static Response get(MetricsServer server, String path, String accept) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create(server.url() + path).toURL().openConnection();
        connection.setRequestProperty("Accept", accept);
        int status = connection.getResponseCode();
        try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
            return new Response(
                    status, connection.getContentType(), new String(body.readAllBytes(), StandardCharsets.UTF_8));
        } finally {
            connection.disconnect();
        }
    }

    private static Response get(MetricsServer server, String path) throws IOException {
        return get(server, path, "*/*");
    }

    @Test
    void metricsHaveTheFormatThatIsAskedFor() throws IOException {
        try (MetricsServer server = start(MetricsServerTest::metrics)) {
            assertThat(server.remarks()).isEmpty();
            assertThat(get(server, "/metrics").body()).contains("answer 42.0").doesNotContain("# EOF");
            assertThat(get(server, "/metrics", "application/openmetrics-text").body())
                    .contains("answer 42.0")
                    .endsWith("# EOF\n");
            Response protobuf = get(
                    server,
                    "/metrics",
                    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited");
            assertThat(protobuf.type()).startsWith("application/vnd.google.protobuf");
            assertThat(protobuf.body()).contains("answer");
        }
        assertThat(err).hasToString("");
    }

    @Test
    void healthHasReasons() throws IOException {
        try (MetricsServer server = start(MetricsServerTest::metrics)) {
            assertThat(get(server, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(server, "/healthz").body()).isEqualTo("ok\n");
            remarks.add("c: not exact");
            assertThat(get(server, "/healthz").statusCode()).isEqualTo(200);
            assertThat(get(server, "/healthz").body()).isEqualTo("ok\nc: not exact\n");
            problems.addAll(List.of("a: ended", "b: ended"));
            assertThat(get(server, "/healthz").statusCode()).isEqualTo(503);
            assertThat(get(server, "/healthz").body()).isEqualTo("a: ended\nb: ended\nc: not exact\n");
            assertThat(get(server, "/").statusCode()).isEqualTo(200);
            assertThat(get(server, "/healthzz").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void namesOfOthersAreOneLineOfHealth() {
        remarks.add("c: /tmp/a\nok\u001b[2J is left out");
        assertThat(new Health(problems, remarks).text()).isEqualTo("ok\nc: /tmp/a\\nok\\x1b[2J is left out");
    }

    /** They take all connections, until the server closes them. */
    @Test
    void readersThatSendHalfARequestHinderNobodyForLong() throws IOException {
        try (MetricsServer server = start(MetricsServerTest::metrics)) {
            takeAllConnections(server, "GET /met".getBytes(StandardCharsets.US_ASCII));
            assertThat(get(server, "/metrics").statusCode()).isEqualTo(200);
        }
    }

    /** Begins to send on each connection that the server has, until it closes the first one. */
    static void takeAllConnections(MetricsServer server, byte[] beginning) throws IOException {
        URI url = URI.create(server.url());
        List<Socket> slow = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                Socket socket = new Socket(url.getHost(), url.getPort());
                slow.add(socket);
                socket.getOutputStream().write(beginning);
            }
            slow.getFirst().setSoTimeout(120_000); // or the test would wait for ever
            int _ = slow.getFirst().getInputStream().readAllBytes().length; // with TLS an alert
        } finally {
            for (Socket socket : slow) {
                socket.close();
            }
        }
    }

    @Test
    void aFailureIsOneLineWithoutStackTrace() throws IOException, InterruptedException {
        try (MetricsServer server = start(() -> {
            throw new IllegalStateException("the table is gone");
        })) {
            Response response = get(server, "/metrics");
            assertThat(response.statusCode()).isEqualTo(500);
            assertThat(response.body()).doesNotContain("table");
            awaitMessage();
        }
        assertThat(err).hasToString("bpf4j: a reader did not get all metrics: the table is gone\n");
    }

    /** The server says it after it has answered. */
    private void awaitMessage() throws InterruptedException {
        while (err.toString().isEmpty()) {
            Thread.sleep(10);
        }
    }

    @Test
    void anAddressThatIsTakenIsSaid() {
        try (MetricsServer server = start(MetricsServerTest::metrics)) {
            URI url = URI.create(server.url());
            assertThatThrownBy(() -> MetricsServer.start(
                            MetricsServer.address(url.getAuthority()),
                            MetricsServerTest::metrics,
                            () -> new Health(problems, remarks),
                            ServerAccess.OPEN,
                            new Console(OutputStream.nullOutputStream(), err, Reader.nullReader())))
                    .isInstanceOf(CommandException.class)
                    .hasMessage("can't listen at " + url.getAuthority() + ": Address already in use");
        }
    }

    @Test
    void anAddressIsAPortAndPerhapsAHost() {
        assertThat(MetricsServer.address("80").getAddress().isLoopbackAddress()).isTrue();
        assertThat(MetricsServer.address("0.0.0.0:80")).isEqualTo(new InetSocketAddress(80));
        assertThat(MetricsServer.address("[::1]:80").getAddress().getHostAddress())
                .isEqualTo("0:0:0:0:0:0:0:1");
        for (String wrong : List.of("", "x", "127.0.0.1", "127.0.0.1:", "1:65536", "127.0.0.1:-1")) {
            assertThatThrownBy(() -> MetricsServer.address(wrong))
                    .isInstanceOf(UsageException.class)
                    .hasMessageContaining("--listen takes PORT or ADDRESS:PORT");
        }
        assertThatThrownBy(() -> MetricsServer.address("300.0.0.1:80")).hasMessageContaining("no address '300.0.0.1'");
    }
}
