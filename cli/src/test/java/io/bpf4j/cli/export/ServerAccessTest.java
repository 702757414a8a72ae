package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.output.Console;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.Reader;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300) // for what hangs
class ServerAccessTest {
    private static final char[] PASSWORD = "changeit".toCharArray();

    @TempDir
    private static Path keys;

    private static KeyStore store;

    @TempDir
    private Path folder;

    private Path certificate;
    private Path key;
    private Path token;

    @BeforeAll
    static void makeKeys() throws IOException, InterruptedException, GeneralSecurityException {
        ServerLimits.set();
        Path file = keys.resolve("keys.p12");
        for (String[] each : List.of(
                new String[] {"server", "EC", "+0d"},
                new String[] {"renewed", "RSA", "+0d"},
                new String[] {"reader", "Ed25519", "+0d"},
                new String[] {"old", "EC", "-9d"})) {
            Process keytool = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin/keytool")
                                    .toString(),
                            "-genkeypair",
                            "-keystore",
                            file.toString(),
                            "-storepass",
                            new String(PASSWORD),
                            "-alias",
                            each[0],
                            "-keyalg",
                            each[1],
                            "-startdate",
                            each[2],
                            "-validity",
                            "7",
                            "-dname",
                            "CN=" + each[0],
                            "-ext",
                            "san=ip:127.0.0.1")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(keytool.waitFor()).as(output).isZero();
        }
        store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            store.load(in, PASSWORD);
        }
    }

    @BeforeEach
    void writeFiles() throws IOException, GeneralSecurityException {
        certificate = folder.resolve("tls.crt");
        key = folder.resolve("tls.key");
        write("server");
        token = secret("token", "5ecret.Token~+/-_==\n");
    }

    private void write(String alias) throws IOException, GeneralSecurityException {
        Files.writeString(certificate, pem("CERTIFICATE", certificate(alias).getEncoded()));
        secret("tls.key", pem("PRIVATE KEY", key(alias).getEncoded()));
    }

    private static Certificate certificate(String alias) throws GeneralSecurityException {
        return store.getCertificate(alias);
    }

    private static Key key(String alias) throws GeneralSecurityException {
        return store.getKey(alias, PASSWORD);
    }

    private static String pem(String label, byte[] encoded) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded) + "\n-----END " + label
                + "-----\n";
    }

    private Path secret(String name, String text) throws IOException {
        Path file = Files.writeString(folder.resolve(name), text);
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    }

    private ServerTls tls() throws IOException {
        return ServerTls.of(new ServerTls.Source(certificate, key, Optional.empty()));
    }

    /** For readers whose certificate is this one, or signed by it. */
    private ServerTls forReaders(String authority) throws IOException, GeneralSecurityException {
        return ServerTls.of(new ServerTls.Source(certificate, key, Optional.of(writeAuthority(authority))));
    }

    private Path writeAuthority(String alias) throws IOException, GeneralSecurityException {
        return Files.writeString(
                folder.resolve("ca.crt"), pem("CERTIFICATE", certificate(alias).getEncoded()));
    }

    private static MetricsServer start(ServerAccess access) {
        return MetricsServer.start(
                MetricsServer.address("0"),
                MetricSnapshots::of,
                () -> new Health(List.of(), List.of()),
                access,
                new Console(OutputStream.nullOutputStream(), new StringWriter(), Reader.nullReader()));
    }

    /** A client that knows the server by one certificate, and shows the one of the reader if it is asked for. */
    private static HttpClient client(String trusted, boolean shows) throws GeneralSecurityException, IOException {
        return HttpClient.newBuilder().sslContext(context(trusted, shows)).build();
    }

    private static SSLContext context(String trusted, boolean shows) throws GeneralSecurityException, IOException {
        KeyStore known = KeyStore.getInstance("PKCS12");
        known.load(null, null);
        known.setCertificateEntry("server", certificate(trusted));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        KeyStore own = KeyStore.getInstance("PKCS12");
        own.load(null, null);
        if (shows) {
            own.setKeyEntry("reader", key("reader"), PASSWORD, new Certificate[] {certificate("reader")});
        }
        KeyManagerFactory managers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        managers.init(own, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(managers.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static int status(HttpClient client, MetricsServer server, String path, String... headers)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(server.url() + path));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString())
                .statusCode();
    }

    @Test
    void readersComeByHttps() throws Exception {
        try (MetricsServer server = start(new ServerAccess(Optional.of(tls()), Optional.empty()));
                HttpClient client = client("server", false);
                HttpClient other = client("renewed", false)) {
            assertThat(server.url()).startsWith("https://127.0.0.1:");
            assertThat(status(client, server, "/metrics")).isEqualTo(200);
            assertThatThrownBy(() -> status(other, server, "/metrics")).isInstanceOf(SSLException.class);
        }
    }

    @Test
    void readersNeedTheToken() throws Exception {
        try (MetricsServer server = start(new ServerAccess(Optional.empty(), Optional.of(BearerToken.of(token))));
                HttpClient client = client("server", false)) {
            for (String path : List.of("/metrics", "/healthz", "/x")) {
                assertThat(status(client, server, path)).isEqualTo(401);
                assertThat(status(client, server, path, "Authorization", "Bearer 5ecret.Token~+/-_="))
                        .isEqualTo(401);
                assertThat(status(client, server, path, "Authorization", "Basic 5ecret.Token~+/-_=="))
                        .isEqualTo(401);
                assertThat(status(client, server, path, "Authorization", "Bearer 5ecret.Token~+/-_=="))
                        .isEqualTo(path.equals("/x") ? 404 : 200);
                assertThat(status(client, server, path, "Authorization", "bearer 5ecret.Token~+/-_=="))
                        .isEqualTo(path.equals("/x") ? 404 : 200);
            }
            assertThat(status(client, server, "/")).as("liveness").isEqualTo(200);
        }
    }

    @Test
    void readersNeedACertificate() throws Exception {
        ServerTls tls = forReaders("reader");
        try (MetricsServer server = start(new ServerAccess(Optional.of(tls), Optional.empty()));
                HttpClient known = client("server", true);
                HttpClient unknown = client("server", false)) {
            assertThat(status(known, server, "/metrics")).isEqualTo(200);
            assertThatThrownBy(() -> status(unknown, server, "/metrics")).isInstanceOf(IOException.class);
        }
    }

    @Test
    void renewedFilesAreRead() throws Exception {
        ServerAccess access = new ServerAccess(Optional.of(tls()), Optional.of(BearerToken.of(token)));
        try (MetricsServer server = start(access)) {
            write("renewed");
            secret("token", "another/token-of-22ch");
            assertThat(server.reload()).isEmpty();
            try (HttpClient renewed = client("renewed", false)) {
                assertThat(status(renewed, server, "/metrics", "Authorization", "Bearer another/token-of-22ch"))
                        .isEqualTo(200);
                assertThat(status(renewed, server, "/metrics", "Authorization", "Bearer 5ecret.Token~+/-_=="))
                        .isEqualTo(401);
            }
            Files.writeString(certificate, "no certificate\n");
            secret("token", "two words\n");
            assertThat(server.reload())
                    .satisfiesExactly(
                            first -> assertThat(first)
                                    .startsWith(certificate + ": has no certificate")
                                    .endsWith("; what it held before is still used"),
                            second -> assertThat(second).startsWith(token + ": is not a token: "));
            try (HttpClient renewed = client("renewed", false)) {
                assertThat(status(renewed, server, "/metrics", "Authorization", "Bearer another/token-of-22ch"))
                        .isEqualTo(200);
            }
        }
    }

    @Test
    void wrongFilesAreRefused() throws Exception {
        secret("tls.key", pem("PRIVATE KEY", key("reader").getEncoded()));
        refused("tls.key: is not the key of the first certificate of ");
        secret("tls.key", pem("EC PRIVATE KEY", new byte[] {1}));
        refused(
                "tls.key: the key has the form 'EC PRIVATE KEY'; bpf4j reads PKCS #8 without a password: openssl pkcs8");
        secret("tls.key", pem("ENCRYPTED PRIVATE KEY", new byte[] {1}));
        refused("'ENCRYPTED PRIVATE KEY'");
        secret("tls.key", pem("PRIVATE KEY", new byte[] {1, 2, 3}));
        refused("tls.key: the private key is not an RSA, EC or EdDSA key");
        secret("tls.key", "-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----\n");
        refused("tls.key: the private key is not in base 64");
        secret("tls.key", "no key");
        refused("tls.key: has no private key in PEM");
        write("server");
        Files.writeString(certificate, "");
        refused("tls.crt: has no certificate in PEM");
        Files.writeString(certificate, pem("CERTIFICATE", new byte[] {1, 2, 3}));
        refused("tls.crt: certificate 1 can't be read: ");
        String whole = pem("CERTIFICATE", certificate("server").getEncoded());
        Files.writeString(certificate, whole + whole.substring(0, 200));
        refused("tls.crt: certificate 2 has no end");
        Files.writeString(
                certificate, whole + pem("CERTIFICATE", certificate("renewed").getEncoded()));
        refused("tls.crt: each certificate must be followed by that of the authority which has signed it");
        Files.delete(certificate);
        assertThatThrownBy(this::tls).hasMessageContaining("tls.crt");
    }

    private void refused(String message) {
        assertThatThrownBy(this::tls).isInstanceOf(CommandException.class).hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-r--r--", "rw--w----"})
    void secretsOfOthersAreRefused(String rights) throws IOException {
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString(rights));
        refused("tls.key: another user can ");
        Files.setPosixFilePermissions(token, PosixFilePermissions.fromString(rights));
        assertThatThrownBy(() -> BearerToken.of(token))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("token: another user can ")
                .hasMessageNotContaining("5ecret");
    }

    /** Whoever owns the folder of a link could have any file read: as a token the only line of one, which others know. */
    @Test
    void aLinkInTheFolderOfOthersIsRefused() throws IOException {
        Path shared = Files.createDirectory(folder.resolve("shared"));
        Files.setPosixFilePermissions(shared, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path link = Files.createSymbolicLink(shared.resolve("token"), token);
        assertThatThrownBy(() -> BearerToken.of(link))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining(link + " is a symbolic link, and " + shared + " can be written by others");
        Path own = Files.createSymbolicLink(folder.resolve("link"), Path.of("token"));
        BearerToken.of(own);
        Path byBoth = Files.createSymbolicLink(folder.resolve("both"), Path.of("shared/token"));
        assertThatThrownBy(() -> BearerToken.of(byBoth)).hasMessageContaining(link + " is a symbolic link");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "short", "fifteen.letters", "two words of a token", "token-with-\u00e9-in-it"})
    void whatIsNoTokenIsRefused(String text) throws IOException {
        secret("token", text);
        assertThatThrownBy(() -> BearerToken.of(token))
                .isInstanceOf(CommandException.class)
                .hasMessageContaining("token: is not a token: a line of at least 16 letters");
    }

    @Test
    void whatHasExpiredIsSaid() throws IOException, GeneralSecurityException {
        assertThat(tls().expired()).isEmpty();
        write("old");
        assertThat(tls().expired()).singleElement().asString().startsWith(certificate + ": a certificate expired on 2");
    }

    /** Neither by the connection that it has, nor by the session that it remembers. */
    @Test
    void aReaderThatIsKnownNoMoreIsRefused() throws Exception {
        ServerTls tls = forReaders("reader");
        SSLContext remembers = context("server", true);
        try (MetricsServer server = start(new ServerAccess(Optional.of(tls), Optional.empty()));
                HttpClient connected =
                        HttpClient.newBuilder().sslContext(remembers).build();
                HttpClient next = HttpClient.newBuilder().sslContext(remembers).build()) {
            assertThat(status(connected, server, "/metrics")).isEqualTo(200);
            Path _ = writeAuthority("renewed");
            assertThat(server.reload()).isEmpty();
            assertThatThrownBy(() -> status(connected, server, "/metrics")).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> status(next, server, "/metrics")).isInstanceOf(IOException.class);
        }
    }

    /**
     * Sends requests and reads no answer, until the server closes the connection. Anybody can do that, without a token.
     *
     * @return a thread that ends when the connection is closed
     */
    private static Thread neverReads(MetricsServer server, AtomicLong sent) throws Exception {
        URI url = URI.create(server.url());
        Socket plain = new Socket();
        plain.setReceiveBufferSize(4096);
        plain.connect(new InetSocketAddress(url.getHost(), url.getPort()));
        SSLSocket socket = (SSLSocket)
                context("server", false).getSocketFactory().createSocket(plain, url.getHost(), url.getPort(), true);
        socket.startHandshake();
        byte[] request = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
        return Thread.ofPlatform().daemon().start(() -> {
            try (plain) {
                OutputStream out = socket.getOutputStream();
                while (true) {
                    out.write(request);
                    sent.incrementAndGet();
                }
            } catch (IOException e) {
                // It is closed.
            }
        });
    }

    @Test
    void aReaderThatDoesNotReadHindersNobody() throws Exception {
        ServerAccess access = new ServerAccess(Optional.of(tls()), Optional.of(BearerToken.of(token)));
        try (MetricsServer server = start(access);
                HttpClient client = client("server", false)) {
            Thread attacker = neverReads(server, new AtomicLong());
            attacker.join();
            assertThat(status(client, server, "/metrics", "Authorization", "Bearer 5ecret.Token~+/-_=="))
                    .isEqualTo(200);
        }
    }

    @Test
    void theServerEndsAlsoIfAReaderDoesNotRead() throws Exception {
        AtomicLong sent = new AtomicLong();
        Thread attacker;
        try (MetricsServer server = start(new ServerAccess(Optional.of(tls()), Optional.empty()))) {
            attacker = neverReads(server, sent);
            awaitStandstill(sent);
        }
        attacker.join();
    }

    /** The server writes and waits, so that it reads no more. */
    private static void awaitStandstill(AtomicLong sent) throws InterruptedException {
        long before;
        do {
            before = sent.get();
            Thread.sleep(500);
        } while (sent.get() == 0 || sent.get() != before);
    }

    /** They take all connections, until the server closes them. */
    @Test
    void readersThatDoNotShakeHandsHinderNobodyForLong() throws Exception {
        try (MetricsServer server = start(new ServerAccess(Optional.of(tls()), Optional.empty()));
                HttpClient client = client("server", false)) {
            byte[] clientHello = {0x16, 0x03, 0x01, 0x02, 0x00, 0x01};
            MetricsServerTest.takeAllConnections(server, clientHello);
            assertThat(status(client, server, "/metrics")).isEqualTo(200);
        }
    }

    @Test
    void theRiskIsSaid() throws IOException {
        String open = "everybody who can connect to u can read the metrics";
        Optional<BearerToken> known = Optional.of(BearerToken.of(token));
        assertThat(ServerAccess.OPEN.risk("u")).hasValue(open);
        assertThat(new ServerAccess(Optional.of(tls()), Optional.empty()).risk("u"))
                .hasValue(open);
        assertThat(new ServerAccess(Optional.empty(), known).risk("u"))
                .hasValueSatisfying(risk -> assertThat(risk).contains("without encryption"));
        assertThat(new ServerAccess(Optional.of(tls()), known).risk("u")).isEmpty();
    }
}
