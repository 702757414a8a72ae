package io.bpf4j.cli.export;

import com.sun.net.httpserver.HttpExchange;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.output.Console;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.exporter.httpserver.HttpErrorHandlingPolicy;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.function.Supplier;

/**
 * Answers readers by HTTP: {@code /metrics} by the Prometheus client, in the format that they ask for, and {@code
 * /healthz}. Closing ends it at once.
 *
 * <p>Tested by {@code MetricsServerTest} and {@code CliExportTest}.
 */
public final class MetricsServer implements AutoCloseable {
    /**
     * Limits of the JDK's server, unless they are set: anybody on the machine may connect, so no more descriptors than
     * these connections are taken. Whoever sends half a request, does not read the answer, or asks nothing more, loses
     * the connection after so many seconds, so that other readers get one.
     */
    private static final Map<String, String> LIMITS = Map.of(
            "jdk.httpserver.maxConnections", "16",
            "sun.net.httpserver.maxReqTime", "10",
            "sun.net.httpserver.maxRspTime", "15",
            "sun.net.httpserver.idleInterval", "5",
            "sun.net.httpserver.maxIdleConnections", "4");

    private final HTTPServer server;
    private final InetAddress address;
    private final ServerAccess access;

    private MetricsServer(HTTPServer server, InetAddress address, ServerAccess access) {
        this.server = server;
        this.address = address;
        this.access = access;
    }

    /**
     * The address of {@code --listen}.
     *
     * @param text {@code PORT} or {@code ADDRESS:PORT}; an address of IPv6 is in brackets
     * @throws UsageException if it is none
     */
    public static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        String host = text.substring(0, Math.max(0, colon));
        try {
            return new InetSocketAddress(
                    host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host),
                    Integer.parseInt(text.substring(colon + 1)));
        } catch (UnknownHostException e) {
            throw new UsageException("--listen " + text + ": there is no address '" + host + "'");
        } catch (IllegalArgumentException e) {
            throw new UsageException("--listen takes PORT or ADDRESS:PORT with a port up to 65535, not '" + text + "'");
        }
    }

    /**
     * Starts to listen.
     *
     * @param metrics read at each request
     * @param health read at each request
     * @param access who may read
     * @throws CommandException if the address can't be listened at, such as because another program does
     */
    public static MetricsServer start(
            InetSocketAddress address,
            MultiCollector metrics,
            Supplier<Health> health,
            ServerAccess access,
            Console console) {
        LIMITS.forEach((property, limit) -> {
            if (System.getProperty(property) == null) {
                System.setProperty(property, limit);
            }
        });
        PrometheusRegistry registry = new PrometheusRegistry();
        registry.register(metrics);
        try {
            HTTPServer.Builder server = HTTPServer.builder()
                    .inetAddress(address.getAddress())
                    .port(address.getPort())
                    .registry(registry)
                    .registerHealthHandler(false)
                    // A line, and no stack trace. The reader is told nothing but that it failed.
                    .errorHandlingPolicy(HttpErrorHandlingPolicy.builder()
                            .errorReporter(e -> report(e, console))
                            .build())
                    .defaultHandler(exchange -> answer(exchange, health))
                    // A reader who is slow, or sends half of a request, waits alone.
                    .executorService(Executors.newVirtualThreadPerTaskExecutor());
            access.tls().ifPresent(tls -> server.httpsConfigurator(tls.configurator()));
            access.token().ifPresent(server::authenticator);
            return new MetricsServer(server.buildAndStart(), address.getAddress(), access);
        } catch (IOException e) {
            throw new CommandException(
                    "can't listen at " + name(address.getAddress()) + ":" + address.getPort() + ": " + e.getMessage(),
                    e);
        }
    }

    private static void report(Exception e, Console console) {
        if (!(e instanceof IOException)) { // the reader has gone, which anybody may do as often as they like
            console.error("bpf4j: a reader did not get all metrics: " + (e.getMessage() == null ? e : e.getMessage()));
        }
    }

    private static void answer(HttpExchange exchange, Supplier<Health> health) throws IOException {
        try (exchange) {
            switch (exchange.getRequestURI().getPath()) {
                case "/healthz" -> {
                    Health now = health.get();
                    answer(exchange, now.isGood() ? 200 : 503, now.text());
                }
                case "/" -> answer(exchange, 200, "bpf4j: /metrics and /healthz");
                case null, default -> answer(exchange, 404, "there are /metrics and /healthz");
            }
        }
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        byte[] body = (text + "\n").getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(status, -1);
        } else {
            exchange.sendResponseHeaders(status, body.length);
            exchange.getResponseBody().write(body);
        }
    }

    /** What somebody who starts it should know, in words. */
    public List<String> remarks() {
        List<String> remarks = new ArrayList<>(access.expired());
        if (!address.isLoopbackAddress()) {
            access.risk(url()).ifPresent(remarks::add);
        }
        return remarks;
    }

    /** Reads the files with the keys and the token again. Returns in words what can't be used. */
    public List<String> reload() {
        return access.reload();
    }

    /** Where it listens, without a path. */
    public String url() {
        return (access.tls().isPresent() ? "https://" : "http://") + name(address) + ":" + server.getPort();
    }

    private static String name(InetAddress address) {
        String number = address.getHostAddress();
        return number.indexOf(':') < 0 ? number : "[" + number + "]";
    }

    @Override
    public void close() {
        server.close();
    }
}
