package io.bpf4j.test.cli;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_COOKIE;
import static io.bpf4j.test.support.Requirement.GCC;
import static io.bpf4j.test.support.Requirement.OPENSSL;
import static io.bpf4j.test.support.Requirement.PROMTOOL;
import static io.bpf4j.test.support.Requirement.SDT_H;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.test.support.AskedProgram;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Processes;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.RunningTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The agent, read by Prometheus with a certificate that openssl has made, and with a token. */
@Requires({BPF, BPF_COOKIE, GCC, SDT_H, OPENSSL, PROMTOOL})
@Timeout(600) // for what hangs
class CliExportTlsTest {
    private static final Pattern SERVING = Pattern.compile("at https://(127\\.0\\.0\\.1:[0-9]+)/metrics");
    private static final Pattern LISTENING = Pattern.compile("\"Listening on\" address=(\\S+)");

    @TempDir
    private static Path folder;

    private static AskedProgram asked;
    private static Path certificate;
    private static Path key;
    private static Path token;

    @BeforeAll
    static void prepare() throws IOException, InterruptedException {
        asked = AskedProgram.in(folder);
        certificate = folder.resolve("tls.crt");
        key = folder.resolve("tls.key");
        renew("prime256v1");
        token = Files.writeString(folder.resolve("token"), "open/sesame.open/sesame\n");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString("rw-------"));
    }

    private static void renew(String curve) throws IOException, InterruptedException {
        Commands.check(List.of(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:" + curve,
                "-nodes",
                "-days",
                "30",
                "-subj",
                "/CN=agent",
                "-addext",
                "subjectAltName=IP:127.0.0.1",
                "-keyout",
                key.toString(),
                "-out",
                certificate.toString()));
    }

    private static RunningTrace agent(Path config) throws IOException {
        return new RunningTrace(
                "export",
                "--config",
                config.toString(),
                "--listen",
                "0",
                "--tls-certificate",
                certificate.toString(),
                "--tls-key",
                key.toString(),
                "--token",
                token.toString());
    }

    @Test
    void prometheusReadsByHttpsWithAToken() throws IOException, InterruptedException {
        try (RunningTrace agent = agent(asked.config("values count FILE asked:value"))) {
            Matcher at = SERVING.matcher(agent.message("bpf4j: serving "));
            assertThat(at.find()).isTrue();
            Path config = Files.writeString(folder.resolve("prometheus.yml"), """
                    scrape_configs:
                      - job_name: known
                        scrape_interval: 1s
                        scheme: https
                        tls_config: {ca_file: %s}
                        authorization: {credentials_file: %s}
                        static_configs: [targets: ["%s"]]
                      - job_name: stranger
                        scrape_interval: 1s
                        scheme: https
                        tls_config: {ca_file: %s}
                        static_configs: [targets: ["%s"]]
                    """.formatted(
                            certificate, token, at.group(1), certificate, at.group(1)));
            Path log = folder.resolve("prometheus.log");
            Process prometheus = new ProcessBuilder(
                            "prometheus",
                            "--config.file=" + config,
                            "--storage.tsdb.path=" + folder.resolve("tsdb"),
                            "--web.listen-address=127.0.0.1:0")
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try (Processes.Ended _ = Processes.endAfterwards(prometheus)) {
                String url = "http://" + listening(log);
                asked.run("values", "10");
                awaitValues(url, 10);
                Await.until(
                        "Prometheus was refused without the token",
                        () -> query(url, "up{job=\"stranger\"}"),
                        answer -> answer.contains("=> 0 @"));
                assertThat(query(url, "values_total{job=\"stranger\"}")).isBlank();

                renew("secp384r1");
                agent.signal("HUP");
                agent.awaitMessage(": serving 1 question");
                asked.run("values", "5");
                // Prometheus reads its file of authorities again, too, and connects anew.
                awaitValues(url, 15);
            }
        }
    }

    private static void awaitValues(String url, int values) throws IOException, InterruptedException {
        Await.until(
                "Prometheus has scraped " + values,
                () -> query(url, "values_total{job=\"known\"}"),
                answer -> answer.contains("=> " + values + " @"));
    }

    private static String listening(Path log) throws IOException, InterruptedException {
        Matcher address =
                Await.until("Prometheus listens", () -> LISTENING.matcher(Files.readString(log)), Matcher::find);
        return address.group(1);
    }

    private static String query(String url, String query) throws IOException, InterruptedException {
        return Commands.run(List.of("promtool", "query", "instant", url, query)).out();
    }
}
