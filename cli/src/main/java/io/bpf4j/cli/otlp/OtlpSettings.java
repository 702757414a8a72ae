package io.bpf4j.cli.otlp;

import io.bpf4j.cli.failure.AccessFile;
import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.cli.failure.UsageException;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Where the agent pushes its metrics to, and how: by its options, and by the variables that the specification of
 * OpenTelemetry gives each exporter. An option comes before its variable, a variable for metrics before the one for all
 * signals. A variable that asks for what bpf4j does not do is refused. <i>Immutable.</i>
 *
 * <p>Tested by {@code OtlpSettingsTest}.
 *
 * @param endpoint where metrics are taken
 * @param headerFile the file with the headers; empty if there is none
 * @param headers of variables
 * @param trusted certificates in PEM, of those who may have signed the one of the collector; empty for those of the JDK
 * @param client the key and the certificate in PEM by which the collector knows this agent, in this order; or empty
 * @param gzip whether a push is compressed
 * @param timeout for a push with all its attempts
 * @param every from the start of a push to that of the next
 * @param exponential whether histograms without bounds of their own are exponential
 * @param resource what the metrics are of
 */
public record OtlpSettings(
        URI endpoint,
        Optional<Path> headerFile,
        Map<String, String> headers,
        Optional<byte[]> trusted,
        List<byte[]> client,
        boolean gzip,
        Duration timeout,
        Duration every,
        boolean exponential,
        Resource resource) {
    private static final String EXPORTER = "OTEL_EXPORTER_OTLP_";
    private static final String METRICS = EXPORTER + "METRICS_";
    private static final String DEFAULT = "http://localhost:4318";
    private static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration DEFAULT_INTERVAL = Duration.ofMinutes(1);

    /** More often nobody looks, and each push reads the tables of all questions. */
    private static final Duration LEAST_INTERVAL = Duration.ofSeconds(1);

    private static final Duration MOST_INTERVAL = Duration.ofDays(1);

    /** Bytes of a file with keys or certificates; that of all authorities of a Debian has 220,000. */
    private static final int MAX_PEM = 1 << 20;

    /**
     * What the options say.
     *
     * @param url the base of the endpoint; empty text for that of the variables, or of this machine
     * @param headers the file with headers
     * @param certificate the file with trusted certificates
     * @param every between two pushes
     */
    public record Options(String url, Optional<Path> headers, Optional<Path> certificate, Optional<Duration> every) {}

    /**
     * The settings of options and variables. Reads the files, so that a mistake in them is said at the start.
     *
     * @param environment the variables of this process
     * @param version of bpf4j
     * @throws UsageException if an option or a variable is wrong, or asks for what bpf4j does not do
     * @throws CommandException if a file is wrong
     */
    public static OtlpSettings of(Options options, Map<String, String> environment, String version) throws IOException {
        Variables variables = new Variables(environment);
        refuseOthers(variables);
        URI endpoint = endpoint(options, variables);
        boolean encrypted = endpoint.getScheme().equalsIgnoreCase("https");
        if (options.certificate().isPresent() && !encrypted) {
            throw new UsageException("--otlp-certificate is for https, and " + endpoint + " is not encrypted");
        }
        Optional<Path> headerFile = options.headers();
        if (headerFile.isPresent()) {
            Map<String, String> _ = OtlpHeaders.read(headerFile.get());
        }
        Optional<Path> certificate =
                options.certificate().or(() -> variables.specific("CERTIFICATE").map(Path::of));
        return new OtlpSettings(
                endpoint,
                headerFile,
                headers(variables),
                encrypted && certificate.isPresent()
                        ? Optional.of(AccessFile.own(certificate.get(), MAX_PEM))
                        : Optional.empty(),
                encrypted ? client(variables) : List.of(),
                variables.choice("COMPRESSION", List.of("none", "gzip")).equals("gzip"),
                timeout(variables),
                every(options, variables),
                variables
                        .choice(
                                "DEFAULT_HISTOGRAM_AGGREGATION",
                                List.of("explicit_bucket_histogram", "base2_exponential_bucket_histogram"))
                        .startsWith("base2"),
                AgentResource.of(variables, version));
    }

    private static void refuseOthers(Variables variables) {
        if (variables.named("OTEL_SDK_DISABLED").orElse("").equalsIgnoreCase("true")) {
            throw new UsageException("OTEL_SDK_DISABLED=true and --otlp contradict each other");
        }
        variables
                .named("OTEL_METRICS_EXPORTER")
                .filter(name -> !name.equals("otlp"))
                .ifPresent(name -> {
                    throw new UsageException("OTEL_METRICS_EXPORTER=" + name + " and --otlp contradict each other");
                });
        for (String file : List.of("OTEL_CONFIG_FILE", "OTEL_EXPERIMENTAL_CONFIG_FILE")) {
            if (variables.named(file).isPresent()) {
                throw new UsageException(file + ": bpf4j reads no such file, but the other variables for OTLP");
            }
        }
        String _ = variables.choice("PROTOCOL", List.of("http/protobuf"));
        String _ = variables.choice("TEMPORALITY_PREFERENCE", List.of("cumulative"));
    }

    private static URI endpoint(Options options, Variables variables) {
        if (!options.url().isEmpty()) {
            return OtlpEndpoint.base("--otlp", options.url());
        }
        return variables
                .named(METRICS + "ENDPOINT")
                .map(url -> OtlpEndpoint.exact(METRICS + "ENDPOINT", url))
                .orElseGet(() -> OtlpEndpoint.base(
                        EXPORTER + "ENDPOINT",
                        variables.named(EXPORTER + "ENDPOINT").orElse(DEFAULT)));
    }

    private static Map<String, String> headers(Variables variables) {
        Map<String, String> headers = OtlpHeaders.none();
        for (String name : List.of(EXPORTER + "HEADERS", METRICS + "HEADERS")) {
            variables.named(name).ifPresent(text -> headers.putAll(OtlpHeaders.parse(name, text)));
        }
        return headers;
    }

    private static List<byte[]> client(Variables variables) throws IOException {
        Optional<String> key = variables.specific("CLIENT_KEY");
        Optional<String> certificate = variables.specific("CLIENT_CERTIFICATE");
        if (key.isPresent() != certificate.isPresent()) {
            throw new UsageException(EXPORTER + "CLIENT_KEY and " + EXPORTER
                    + "CLIENT_CERTIFICATE name a key and its certificate: set both or none");
        }
        return key.isEmpty()
                ? List.of()
                : List.of(
                        AccessFile.secret(Path.of(key.get()), MAX_PEM),
                        AccessFile.own(Path.of(certificate.orElseThrow()), MAX_PEM));
    }

    private static Duration timeout(Variables variables) {
        Duration push = variables
                .millis(METRICS + "TIMEOUT")
                .orElseGet(() -> variables.millis(EXPORTER + "TIMEOUT").orElse(DEFAULT_TIMEOUT));
        Duration export = variables.millis("OTEL_METRIC_EXPORT_TIMEOUT").orElse(push);
        return push.compareTo(export) < 0 ? push : export;
    }

    private static Duration every(Options options, Variables variables) {
        Duration every = options.every()
                .orElseGet(() -> variables.millis("OTEL_METRIC_EXPORT_INTERVAL").orElse(DEFAULT_INTERVAL));
        if (every.compareTo(LEAST_INTERVAL) < 0 || every.compareTo(MOST_INTERVAL) > 0) {
            throw new UsageException((options.every().isPresent() ? "--otlp-every" : "OTEL_METRIC_EXPORT_INTERVAL")
                    + " is a time from one second to one day");
        }
        return every;
    }

    /** The headers as they are now: those of the file come before those of the variables. */
    Map<String, String> currentHeaders() throws IOException {
        Map<String, String> all = OtlpHeaders.none();
        all.putAll(headers);
        if (headerFile.isPresent()) {
            all.putAll(OtlpHeaders.read(headerFile.get()));
        }
        return all;
    }

    /** The environment variables. One that is empty counts as not set, as the specification wants it. */
    record Variables(Map<String, String> environment) {
        Optional<String> named(String name) {
            return Optional.ofNullable(environment.get(name)).map(String::strip).filter(value -> !value.isEmpty());
        }

        /** That for metrics, or that for all signals. */
        Optional<String> specific(String ending) {
            return named(METRICS + ending).or(() -> named(EXPORTER + ending));
        }

        /** One of several values, of which the first is the usual one. */
        String choice(String ending, List<String> known) {
            String value = specific(ending).orElse(known.getFirst()).toLowerCase(Locale.ROOT);
            if (!known.contains(value)) {
                String name = named(METRICS + ending).isPresent() ? METRICS + ending : EXPORTER + ending;
                throw new UsageException(name + "=" + value + ": bpf4j knows " + String.join(" and ", known));
            }
            return value;
        }

        Optional<Duration> millis(String name) {
            return named(name).map(text -> {
                try {
                    long millis = Long.parseLong(text);
                    if (millis > 0 && millis <= MOST_INTERVAL.toMillis()) {
                        return Duration.ofMillis(millis);
                    }
                } catch (NumberFormatException e) {
                    // It is refused below.
                }
                throw new UsageException(name + " is a number of milliseconds, at most " + MOST_INTERVAL.toMillis()
                        + ", not '" + text + "'");
            });
        }
    }
}
