package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Cli;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsPartialSuccess;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceResponse;
import io.opentelemetry.proto.metrics.v1.AggregationTemporality;
import io.opentelemetry.proto.metrics.v1.Metric;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent pushes to a receiver, which reads by the protocol's own classes, about programs whose events are known. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H})
@Timeout(600) // for what hangs
class CliExportOtlpTest {
    @TempDir
    private static Path folder;

    private static AskedProgram asked;

    @BeforeAll
    static void compile() throws IOException {
        asked = AskedProgram.in(folder);
    }

    private static RunningTrace agent(Path config, String... options) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("export", "--config", config.toString()));
        arguments.addAll(List.of(options));
        return new RunningTrace(arguments.toArray(String[]::new));
    }

    private static RunningTrace agent(Path config, OtlpReceiver receiver) throws IOException, InterruptedException {
        RunningTrace agent = agent(config, "--otlp", receiver.url(), "--otlp-every", "1s");
        agent.awaitMessage("bpf4j: pushing ");
        return agent;
    }

    private static Commands.Result end(RunningTrace agent) throws IOException, InterruptedException {
        agent.signal("TERM");
        Commands.Result end = agent.await();
        assertThat(end.exitCode()).as(end.err()).isZero();
        assertThat(end.out()).isEmpty();
        assertThat(end.err().lines()).allMatch(line -> line.startsWith("bpf4j: "));
        return end;
    }

    @Test
    void theLastPushHasAllEventsOfTheProgram() throws IOException, InterruptedException {
        Path config = asked.config(
                "asked.values --help 'Values.' count FILE asked:value --by 'str(arg1)' --label 'colour=str(arg1)'",
                "numbers count FILE asked:value --by arg0 --where 'arg0 < 2'",
                "sizes hist FILE asked:value --of arg0 --linear 0:300:100 --constant db.system.name=postgresql",
                "pairs latency FILE asked:begin asked:end --bounds 1ms,10s");
        try (OtlpReceiver receiver = new OtlpReceiver();
                RunningTrace agent = agent(config, receiver)) {
            Await.until("the first push", () -> !receiver.taken().isEmpty());
            asked.run("values", "300");
            asked.run("pairs", "5", "2000");
            Commands.Result end = end(agent);
            assertThat(receiver.values())
                    .containsEntry("asked.values{colour=red}", 100.0)
                    .containsEntry("asked.values{colour=green}", 100.0)
                    .containsEntry("asked.values{colour=blue}", 100.0)
                    .containsEntry("asked.values.exact", 1.0)
                    .containsEntry("asked.values.gaps{gap=lost}", 0.0)
                    .containsEntry("numbers{arg0=0}", 1.0)
                    .containsEntry("numbers{arg0=1}", 1.0)
                    .containsEntry("sizes.count{db.system.name=postgresql}", 300.0)
                    .containsEntry("sizes.sum{db.system.name=postgresql}", 299 * 300 / 2.0)
                    .containsEntry("sizes.bucket{le=99.0}{db.system.name=postgresql}", 100.0)
                    .containsEntry("sizes.bucket{le=199.0}{db.system.name=postgresql}", 200.0)
                    .containsEntry("pairs.count", 5.0)
                    .containsEntry("pairs.gaps{gap=unpaired_ends}", 1.0)
                    .containsEntry("bpf4j_question_up{question=pairs}", 1.0)
                    .containsEntry("bpf4j_config_last_reload_successful", 1.0)
                    .containsKeys("bpf4j_otlp_pushes", "bpf4j_otlp_failed_pushes");
            assertThat(receiver.values().get("pairs.sum")).isGreaterThanOrEqualTo(0.01);
            assertThat(receiver.resource())
                    .containsEntry("service.name", "bpf4j")
                    .containsEntry("os.type", "linux")
                    .containsEntry("process.pid", String.valueOf(agent.pid()))
                    .containsKeys("host.name", "service.instance.id", "service.version");
            assertThat(end.err().lines()).noneMatch(line -> line.contains("otlp:"));
        }
    }

    @Test
    void theSeriesAreCumulativeAndBeginOnce() throws IOException, InterruptedException {
        try (OtlpReceiver receiver = new OtlpReceiver();
                RunningTrace _ = agent(asked.config("values --help 'Values.' count FILE asked:value"), receiver)) {
            asked.run("values", "10");
            assertThat(receiver.next()).containsEntry("values", 10.0);
            asked.run("values", "10");
            assertThat(receiver.next()).containsEntry("values", 20.0);
            List<Metric> pushed = receiver.taken().stream()
                    .flatMap(push -> OtlpReceiver.metrics(push).stream())
                    .filter(metric -> metric.getName().equals("values"))
                    .toList();
            assertThat(pushed)
                    .allMatch(metric -> metric.getSum().getIsMonotonic()
                            && metric.getSum().getAggregationTemporality()
                                    == AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE
                            && metric.getUnit().equals("{event}")
                            && metric.getDescription().equals("Values."));
            assertThat(pushed.stream()
                            .map(metric -> metric.getSum().getDataPoints(0).getStartTimeUnixNano()))
                    .hasSizeGreaterThan(1)
                    .containsOnly(pushed.getFirst().getSum().getDataPoints(0).getStartTimeUnixNano());
        }
    }

    /** Pushes fail while events come; the first that is taken has all of them. */
    @Test
    void aCollectorThatComesBackHasAllEvents() throws IOException, InterruptedException {
        // A push has no time for a second attempt.
        List<String> command = new ArrayList<>(List.of("env", "OTEL_EXPORTER_OTLP_TIMEOUT=700"));
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            command.addAll(Cli.command(
                    "export",
                    "--config",
                    asked.config("values count FILE asked:value").toString(),
                    "--otlp",
                    receiver.url(),
                    "--otlp-every",
                    "1s"));
            try (RunningTrace agent = new RunningTrace(command)) {
                agent.awaitMessage("bpf4j: pushing ");
                asked.run("values", "10");
                assertThat(receiver.next()).containsEntry("values", 10.0);
                AtomicInteger refused = new AtomicInteger();
                receiver.answer((_, exchange, _) -> {
                    exchange.close(); // no answer at all
                    refused.incrementAndGet();
                });
                agent.awaitMessage("bpf4j: otlp: " + receiver.url() + "/v1/metrics: no HTTP response");
                asked.run("values", "100");
                int seen = refused.get();
                // The one that was read before the last event may come after it.
                Await.until("another push is refused", () -> refused.get() >= seen + 2);
                int before = receiver.taken().size();
                receiver.take();
                Await.until("it is taken", () -> receiver.taken().size() > before);
                agent.awaitMessage("accepts pushes again, with all events since the start");
                assertThat(OtlpReceiver.metrics(receiver.taken().get(before)).stream()
                                .filter(metric -> metric.getName().equals("values"))
                                .map(metric -> metric.getSum().getDataPoints(0).getAsInt()))
                        .containsExactly(110L);
                assertThat(receiver.next().get("bpf4j_otlp_failed_pushes")).isGreaterThanOrEqualTo(2);
            }
        }
    }

    @Test
    void aReloadIsNoGapAndNoReset() throws IOException, InterruptedException {
        Path config = asked.config("values count FILE asked:value", "begins count FILE asked:begin");
        try (OtlpReceiver receiver = new OtlpReceiver();
                RunningTrace agent = agent(config, receiver)) {
            asked.run("values", "10");
            assertThat(receiver.next()).containsEntry("values", 10.0).containsEntry("begins", 0.0);
            Files.writeString(config, asked.about("ends count FILE asked:end\n\nvalues count FILE asked:value\n"));
            agent.signal("HUP");
            agent.awaitMessage(config + ": serving 2 questions");
            asked.run("values", "10");
            asked.run("pairs", "2", "0");
            assertThat(receiver.next())
                    .containsEntry("values", 20.0)
                    .containsEntry("ends", 3.0)
                    .doesNotContainKey("begins");
            List<ExportMetricsServiceRequest> pushes = receiver.taken();
            List<Long> seen = new ArrayList<>();
            for (ExportMetricsServiceRequest push : pushes) {
                OtlpReceiver.metrics(push).stream()
                        .filter(metric -> metric.getName().equals("values"))
                        .forEach(metric ->
                                seen.add(metric.getSum().getDataPoints(0).getAsInt()));
            }
            // Each push has it, and it never becomes less.
            assertThat(seen).hasSameSizeAs(pushes).isSorted();
        }
    }

    @Test
    void aCollectorThatHangsDoesNotHoldUpTheEnd() throws IOException, InterruptedException {
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch came = new CountDownLatch(1);
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            receiver.answer((_, _, _) -> {
                came.countDown();
                try {
                    over.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            Path config = asked.config("values count FILE asked:value");
            try (RunningTrace agent = agent(config, "--otlp", receiver.url(), "--otlp-every", "1h")) {
                came.await();
                // Of the ten seconds of a push three are left for the last one.
                assertThat(end(agent).err()).contains("no complete response within 3.0 s");
            } finally {
                over.countDown();
            }
        }
    }

    @Test
    void theServerSaysWhatBecameOfThePushes() throws IOException, InterruptedException {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            receiver.answer((_, exchange, _) -> exchange.sendResponseHeaders(401, -1));
            try (RunningTrace agent = agent(
                            asked.config("values count FILE asked:value"),
                            "--otlp",
                            receiver.url(),
                            "--otlp-every",
                            "1s",
                            "--listen",
                            "0");
                    HttpClient client = HttpClient.newHttpClient()) {
                Matcher where = Pattern.compile("at (http://127.0.0.1:[0-9]+)/metrics and pushing 1 question to "
                                + Pattern.quote(receiver.url()) + "/v1/metrics every 1.0 s;")
                        .matcher(agent.message("bpf4j: serving 1 question"));
                assertThat(where.find()).isTrue();
                String url = where.group(1);
                agent.awaitMessage(
                        "the collector responded with status 401: the collector requires other headers (--otlp-headers)");
                // The questions count, so nobody need start the agent again.
                HttpResponse<String> health = get(client, url + "/healthz");
                assertThat(health.statusCode()).isEqualTo(200);
                assertThat(health.body())
                        .startsWith("ok\notlp: no push was accepted yet: the collector responded with status 401");
                String failing = Await.until(
                        "a failed push",
                        () -> get(client, url + "/metrics").body(),
                        metrics -> metrics.matches("(?s).*\nbpf4j_otlp_failed_pushes_total [1-9].*"));
                assertThat(failing).contains("\nbpf4j_otlp_pushes_total 0.0\n").contains("\nvalues_total 0.0\n");
                receiver.answer((_, exchange, _) -> {
                    byte[] body = ExportMetricsServiceResponse.newBuilder()
                            .setPartialSuccess(ExportMetricsPartialSuccess.newBuilder()
                                    .setRejectedDataPoints(7)
                                    .setErrorMessage("too many labels"))
                            .build()
                            .toByteArray();
                    exchange.getResponseHeaders().set("Content-Type", "application/x-protobuf");
                    exchange.sendResponseHeaders(200, body.length);
                    exchange.getResponseBody().write(body);
                });
                agent.awaitMessage(
                        "the collector accepted a push, but rejected 7 of its points; message: 'too many labels'");
                receiver.take();
                Await.until(
                        "all is well again", () -> get(client, url + "/healthz").body(), body -> body.equals("ok\n"));
                assertThat(get(client, url + "/metrics").body())
                        .containsPattern("\nbpf4j_otlp_rejected_points_total [1-9]")
                        .containsPattern("\nbpf4j_otlp_last_push_timestamp_seconds [1-9]");
            }
        }
    }

    private static HttpResponse<String> get(HttpClient client, String url) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(url)).build(), BodyHandlers.ofString());
    }

    /** The environment is that of other programs with OpenTelemetry. */
    @Test
    void theVariablesOfOpenTelemetryAreRead() throws IOException, InterruptedException {
        try (OtlpReceiver receiver = new OtlpReceiver()) {
            List<String> command = new ArrayList<>(List.of(
                    "env",
                    "OTEL_EXPORTER_OTLP_ENDPOINT=" + receiver.url(),
                    "OTEL_SERVICE_NAME=shop",
                    "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION=base2_exponential_bucket_histogram",
                    "OTEL_METRIC_EXPORT_INTERVAL=1000"));
            command.addAll(Cli.command(
                    "export",
                    "--config",
                    asked.config(
                                    "sizes hist FILE asked:value --of arg0",
                                    "bounded hist FILE asked:value --of arg0 --bounds 10")
                            .toString(),
                    "--otlp"));
            try (RunningTrace agent = new RunningTrace(command)) {
                agent.awaitMessage("bpf4j: pushing 2 questions to " + receiver.url() + "/v1/metrics every 1.0 s;");
                asked.run("values", "10");
                assertThat(receiver.next())
                        .containsEntry("sizes.exponential", 10.0)
                        .containsEntry("bounded.count", 10.0);
                assertThat(receiver.resource()).containsEntry("service.name", "shop");
                agent.signal("HUP");
                agent.awaitMessage(": serving 2 questions");
            }
        }
    }

    @Test
    void aCollectorShowsItsCertificate() throws IOException, InterruptedException, GeneralSecurityException {
        Path keys = folder.resolve("keys.p12");
        Path certificate = folder.resolve("certificate.pem");
        String keytool = Path.of(System.getProperty("java.home"), "bin/keytool").toString();
        Commands.check(List.of(
                keytool,
                "-genkeypair",
                "-keystore",
                keys.toString(),
                "-storepass",
                "changeit",
                "-alias",
                "collector",
                "-keyalg",
                "EC",
                "-dname",
                "CN=collector",
                "-ext",
                "san=ip:127.0.0.1"));
        Commands.check(List.of(
                keytool,
                "-exportcert",
                "-rfc",
                "-keystore",
                keys.toString(),
                "-storepass",
                "changeit",
                "-alias",
                "collector",
                "-file",
                certificate.toString()));
        try (OtlpReceiver receiver = new OtlpReceiver(https(keys))) {
            String url = "https://127.0.0.1:" + receiver.port();
            Path config = asked.config("values count FILE asked:value");
            try (RunningTrace agent = agent(config, "--otlp", url, "--otlp-every", "1s")) {
                agent.awaitMessage("bpf4j: otlp: " + url + "/v1/metrics: the TLS connection failed: ");
            }
            assertThat(receiver.taken()).isEmpty();
            try (RunningTrace agent =
                    agent(config, "--otlp", url, "--otlp-every", "1s", "--otlp-certificate", certificate.toString())) {
                agent.awaitMessage("bpf4j: pushing ");
                asked.run("values", "10");
                Commands.Result _ = end(agent);
                assertThat(receiver.values()).containsEntry("values", 10.0);
            }
        }
        Files.writeString(certificate, "no certificate\n");
        assertThat(Cli.fail(
                        "export",
                        "--config",
                        asked.config("values count FILE asked:value").toString(),
                        "--otlp",
                        "https://127.0.0.1",
                        "--otlp-certificate",
                        certificate.toString()))
                .startsWith("bpf4j: the certificates or the key for https://127.0.0.1/v1/metrics can't be used: ");
    }

    private static HttpsServer https(Path keys) throws IOException, GeneralSecurityException {
        char[] password = "changeit".toCharArray();
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(keys)) {
            store.load(in, password);
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(store, password);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), null, null);
        HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        return server;
    }

    private static final Map<String, Integer> RIGHTS = Map.of("read", 0644, "change", 0622);

    @Test
    void headersOfOthersAreRefused() throws IOException, InterruptedException {
        Path headers = Files.writeString(folder.resolve("headers"), "Authorization: Bearer secret\n");
        String config = asked.config("values count FILE asked:value").toString();
        for (Map.Entry<String, Integer> each : RIGHTS.entrySet()) {
            Files.setAttribute(headers, "unix:mode", each.getValue());
            assertThat(Cli.fail("export", "--config", config, "--otlp", "--otlp-headers", headers.toString()))
                    .startsWith("bpf4j: " + headers + ": another user can " + each.getKey())
                    .doesNotContain("Bearer");
        }
    }
}
