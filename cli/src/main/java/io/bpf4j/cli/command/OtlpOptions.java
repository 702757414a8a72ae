package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.otlp.OtlpSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The options of the agent for pushing its metrics. <i>Confined.</i>
 *
 * <p>Tested by {@code ExportCommandTest}.
 */
final class OtlpOptions {
    @Option(
            names = "--otlp",
            arity = "0..1",
            fallbackValue = "",
            paramLabel = "URL",
            description = "Push the metrics to an OpenTelemetry collector, by OTLP over HTTP. /v1/metrics is added to "
                    + "URL. Without URL: OTEL_EXPORTER_OTLP_ENDPOINT, or http://localhost:4318.")
    private @Nullable String url;

    @Option(
            names = "--otlp-every",
            paramLabel = "T",
            description = "How often to push. Default: OTEL_METRIC_EXPORT_INTERVAL, or 1m.")
    private @Nullable Double every;

    @Option(
            names = "--otlp-headers",
            paramLabel = "FILE",
            description =
                    "File with headers of each push, 'Name: value' on each line, such as a token. No other user may "
                            + "be able to read or change it. SIGHUP reads it again.")
    private @Nullable Path headers;

    @Option(
            names = "--otlp-certificate",
            paramLabel = "FILE",
            description = "PEM certificates of the authorities that may have signed the collector's. Default: "
                    + "OTEL_EXPORTER_OTLP_CERTIFICATE, or those of the Java runtime.")
    private @Nullable Path certificate;

    /**
     * The settings for pushes; empty if nothing is to be pushed.
     *
     * @param environment the environment variables of this process
     * @throws UsageException if an option or a variable is wrong
     */
    Optional<OtlpSettings> settings(Map<String, String> environment) throws IOException {
        if (url == null) {
            if (every != null || headers != null || certificate != null) {
                throw new UsageException("--otlp-every, --otlp-headers and --otlp-certificate need --otlp");
            }
            return Optional.empty();
        }
        return Optional.of(OtlpSettings.of(
                new OtlpSettings.Options(
                        url,
                        Optional.ofNullable(headers),
                        Optional.ofNullable(certificate),
                        Optional.ofNullable(every).map(seconds -> Duration.ofNanos(Math.round(seconds * 1e9)))),
                environment,
                Version.own()));
    }
}
