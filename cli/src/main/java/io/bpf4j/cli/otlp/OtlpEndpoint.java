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
    /** The path for metrics: OTLP 1.x, "OTLP/HTTP Request". */
    private static final String METRICS = "/v1/metrics";

    /** The port of OTLP over gRPC, another protocol. */
    private static final int GRPC = 4317;

    private static final int MAX_PORT = 65_535;

    private OtlpEndpoint() {}

    /**
     * The address below a base, as the variable {@code OTEL_EXPORTER_OTLP_ENDPOINT} has it: {@code http://host:4318} is
     * {@code http://host:4318/v1/metrics}. A URL that ends in this path is not changed.
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
            throw wrong(origin, text, "it must begin with http:// or https://");
        }
        if (uri.getRawUserInfo() != null) {
            // Not repeated: it may be a password.
            throw new UsageException(
                    origin
                            + ": the URL must not contain a user name or password, because every user of the machine can read it; put an Authorization header into the file of --otlp-headers");
        }
        if (uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new UsageException(origin
                    + ": the URL must not have a query or a fragment; put a token into the file of --otlp-headers");
        }
        if (uri.getHost() == null) {
            throw wrong(origin, text, "it has no valid host; a host name can't have an underscore");
        }
        if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
            throw wrong(origin, text, "a port is a number from 1 to " + MAX_PORT);
        }
        if (uri.getPort() == GRPC) {
            throw wrong(
                    origin,
                    text,
                    "port " + GRPC + " is for OTLP over gRPC; bpf4j uses OTLP over HTTP, usually port 4318");
        }
        return uri;
    }

    private static UsageException wrong(String origin, String text, String why) {
        return new UsageException(origin + " takes a URL such as http://localhost:4318, not '" + text + "': " + why);
    }

    /** Whether the host is this machine, judged by its name alone. */
    static boolean isLocal(URI uri) {
        String host = uri.getHost();
        return host.equalsIgnoreCase("localhost") || host.startsWith("127.") || host.equals("[::1]");
    }
}
