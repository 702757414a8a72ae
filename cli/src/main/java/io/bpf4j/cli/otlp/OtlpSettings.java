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
 * Where and how the agent pushes its metrics: by its options, and by the environment variables that OpenTelemetry
 * specifies for exporters. An option overrides its variable, and a variable for metrics overrides the one for all
 * signals. A variable that asks for something that bpf4j does not support is refused. <i>Immutable.</i>
 *
 * <p>Tested by {@code OtlpSettingsTest}.
 *
 * @param endpoint the URL that metrics are pushed to
 * @param headerFile the file with the headers; empty if there is none
 * @param headers the headers of the variables
 * @param trusted certificates in PEM of the authorities that may have signed the collector's certificate; empty for
 *     those of the JDK
 * @param client the key and the certificate in PEM by which the collector authenticates this agent, in this order; or
 *     empty
 * @param gzip whether a push is compressed
 * @param timeout the time limit of a push with all its attempts
 * @param every the time from the start of a push to that of the next
 * @param exponential whether histograms without bounds of their own are exponential
 * @param resource the OpenTelemetry resource of the metrics
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

    /** The least interval: each push reads the tables of all questions. */
    private static final Duration LEAST_INTERVAL = Duration.ofSeconds(1);

    private static final Duration MOST_INTERVAL = Duration.ofDays(1);

    /** The maximum size of a file with keys or certificates, in bytes; Debian's file of all authorities has 220,000. */
    private static final int MAX_PEM = 1 << 20;

    /**
     * The values of the options.
     *
     * @param url the base URL; empty for the URL of the variables, or of this machine
     * @param headers the file with headers
     * @param certificate the file with trusted certificates
     * @param every the time between two pushes
     */
    public record Options(String url, Optional<Path> headers, Optional<Path> certificate, Optional<Duration> every) {}

    /**
     * Reads the settings from options and variables. Reads the files, too, so that an error in them is reported at the
     * start.
     *
     * @param environment the variables of this process
     * @param version of bpf4j
     * @throws UsageException if an option or a variable is wrong, or asks for something that bpf4j does not support
     * @throws CommandException if a file is wrong
     */
    public static OtlpSettings of(Options options, Map<String, String> environment, String version) throws IOException {
        Variables variables = new Variables(environment);
        refuseOthers(variables);
        URI endpoint = endpoint(options, variables);
        boolean encrypted = endpoint.getScheme().equalsIgnoreCase("https");
        if (options.certificate().isPresent() && !encrypted) {
            throw new UsageException("--otlp-certificate needs an https URL, not " + endpoint);
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
                throw new UsageException(file + ": bpf4j does not read such a file, only the other variables for OTLP");
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
            throw new UsageException(
                    EXPORTER + "CLIENT_KEY and " + EXPORTER + "CLIENT_CERTIFICATE belong together: set both or none");
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

    /** The current headers. Those of the file override those of the variables. */
    Map<String, String> currentHeaders() throws IOException {
        Map<String, String> all = OtlpHeaders.none();
        all.putAll(headers);
        if (headerFile.isPresent()) {
            all.putAll(OtlpHeaders.read(headerFile.get()));
        }
        return all;
    }

    /** The environment variables. An empty one counts as not set, as the specification requires. */
    record Variables(Map<String, String> environment) {
        Optional<String> named(String name) {
            return Optional.ofNullable(environment.get(name)).map(String::strip).filter(value -> !value.isEmpty());
        }

        /** The variable for metrics, or else the one for all signals. */
        Optional<String> specific(String ending) {
            return named(METRICS + ending).or(() -> named(EXPORTER + ending));
        }

        /** One of several values, the first of which is the default. */
        String choice(String ending, List<String> known) {
            String value = specific(ending).orElse(known.getFirst()).toLowerCase(Locale.ROOT);
            if (!known.contains(value)) {
                String name = named(METRICS + ending).isPresent() ? METRICS + ending : EXPORTER + ending;
                throw new UsageException(name + "=" + value + ": bpf4j supports " + String.join(" and ", known));
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
