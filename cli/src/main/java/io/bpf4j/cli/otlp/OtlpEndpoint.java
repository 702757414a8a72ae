package io.bpf4j.cli.otlp;

import io.bpf4j.cli.failure.UsageException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;

/**
 * The address that metrics are pushed to.
 *
 * <p>Tested by {@code OtlpSettingsTest}.
 */
final class OtlpEndpoint {
    /** Where a receiver takes metrics: OTLP 1.x, "OTLP/HTTP Request". */
    private static final String METRICS = "/v1/metrics";

    /** The port of OTLP over gRPC, which speaks another protocol. */
    private static final int GRPC = 4317;

    private static final int MAX_PORT = 65_535;

    private OtlpEndpoint() {}

    /**
     * The address below a base, as the variable {@code OTEL_EXPORTER_OTLP_ENDPOINT} has it: {@code http://host:4318} is
     * {@code http://host:4318/v1/metrics}. One that ends so already stays.
     *
     * @param origin where the text comes from, for messages
     * @throws UsageException if it is no such address
     */
    static URI base(String origin, String text) {
        URI uri = exact(origin, text);
        String path = uri.getRawPath() == null ? "" : uri.getRawPath();
        while (path.endsWith("/")) {
            path = path.substring(0, path.length() - 1);
        }
        return uri.resolve(path.endsWith(METRICS) ? path : path + METRICS);
    }

    /**
     * The address as it is, as the variable {@code OTEL_EXPORTER_OTLP_METRICS_ENDPOINT} has it.
     *
     * @param origin where the text comes from, for messages
     * @throws UsageException if it is no such address
     */
    static URI exact(String origin, String text) {
        URI uri;
        try {
            uri = new URI(text);
        } catch (URISyntaxException e) {
            throw wrong(origin, text, e.getReason());
        }
        String scheme = uri.getScheme() == null ? "" : uri.getScheme().toLowerCase(Locale.ROOT);
        if (!scheme.equals("http") && !scheme.equals("https")) {
            throw wrong(origin, text, "it does not begin with http:// or https://");
        }
        if (uri.getRawUserInfo() != null) {
            // Not repeated: it may be a password.
            throw new UsageException(origin + ": a name and a password have no place in the URL, where every user of "
                    + "the machine can read them; put a header Authorization into the file of --otlp-headers");
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new UsageException(origin + ": the URL has a query or a fragment, which no receiver of OTLP needs; a "
                    + "token belongs into the file of --otlp-headers");
        }
        if (uri.getHost() == null) {
            throw wrong(origin, text, "it names no host, which may not have an underscore");
        }
        if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
            throw wrong(origin, text, "a port is a number from 1 to " + MAX_PORT);
        }
        if (uri.getPort() == GRPC) {
            throw wrong(
                    origin,
                    text,
                    "port " + GRPC + " is that of OTLP over gRPC; bpf4j speaks OTLP over HTTP, usually at port 4318");
        }
        return uri;
    }

    private static UsageException wrong(String origin, String text, String why) {
        return new UsageException(origin + " takes a URL such as http://localhost:4318, not '" + text + "': " + why);
    }

    /** Whether only programs on this machine see what is sent there, by the name alone. */
    static boolean isLocal(URI uri) {
        String host = uri.getHost();
        return host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.equals("[::1]");
    }
}
