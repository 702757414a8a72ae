package io.bpf4j.cli.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.cli.failure.UsageException;
import io.opentelemetry.api.common.AttributeKey;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OtlpSettingsTest {
    private static OtlpSettings of(String url, Map<String, String> environment) throws IOException {
        return OtlpSettings.of(
                new OtlpSettings.Options(url, Optional.empty(), Optional.empty(), Optional.empty()),
                environment,
                "1.2.3");
    }

    private static OtlpSettings of(Map<String, String> environment) throws IOException {
        return of("", environment);
    }

    private static @Nullable String attribute(OtlpSettings settings, String name) {
        return settings.resource().getAttribute(AttributeKey.stringKey(name));
    }

    @Test
    void withoutVariablesAllIsAsTheSpecificationSays() throws IOException {
        OtlpSettings settings = of(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "", "HOME", "/"));
        assertThat(settings.endpoint()).isEqualTo(URI.create("http://localhost:4318/v1/metrics"));
        assertThat(settings.every()).isEqualTo(Duration.ofMinutes(1));
        assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.gzip()).isFalse();
        assertThat(settings.exponential()).isFalse();
        assertThat(settings.headers()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "http://collector, http://collector/v1/metrics",
        "http://collector:4318, http://collector:4318/v1/metrics",
        "https://collector:4318/, https://collector:4318/v1/metrics",
        "HTTPS://collector/otlp, HTTPS://collector/otlp/v1/metrics",
        "http://collector/otlp//, http://collector/otlp/v1/metrics",
        "http://collector/v1/metrics, http://collector/v1/metrics",
        "http://[::1]:4318, http://[::1]:4318/v1/metrics",
    })
    void thePathOfMetricsIsAddedToABase(String url, String endpoint) throws IOException {
        assertThat(of(url, Map.of()).endpoint()).hasToString(endpoint);
        assertThat(of(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", url)).endpoint()).hasToString(endpoint);
    }

    @Test
    void theEndpointOfMetricsIsTakenAsItIs() throws IOException {
        Map<String, String> both = Map.of(
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
                "http://metrics/here",
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "http://all");
        assertThat(of(both).endpoint()).hasToString("http://metrics/here");
        assertThat(of("http://option", both).endpoint()).hasToString("http://option/v1/metrics");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "collector:4318 | must begin with http:// or https://",
                "localhost | must begin with http",
                "ftp://collector | must begin with http",
                "grpc://collector:4317 | must begin with http",
                "http:// | Expected authority",
                "http:///v1/metrics | has no valid host",
                "http://my_host | has no valid host; a host name can't have an underscore",
                "http://a b | Illegal character",
                "http://collector:0 | from 1 to 65535",
                "http://collector:99999 | from 1 to 65535",
                "http://collector:4317 | for OTLP over gRPC",
                "http://me:secret@collector | an Authorization header",
                "http://collector?token=secret | put a token into the file",
                "http://collector#x | a query or a fragment",
            })
    void nonsenseIsRefused(String url, String message) {
        assertThatThrownBy(() -> of(url, Map.of()))
                .isInstanceOf(UsageException.class)
                .hasMessageStartingWith("--otlp")
                .hasMessageContainingAll(message)
                .hasMessageNotContaining("secret");
    }

    @Test
    void theVariablesOfMetricsComeBeforeThoseOfAllSignals() throws IOException {
        OtlpSettings settings = of(Map.ofEntries(
                Map.entry("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20a+b, x-tenant = one"),
                Map.entry("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "X-Tenant=two,,"),
                Map.entry("OTEL_EXPORTER_OTLP_TIMEOUT", "1000"),
                Map.entry("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "3000"),
                Map.entry("OTEL_METRIC_EXPORT_TIMEOUT", "2000"),
                Map.entry("OTEL_METRIC_EXPORT_INTERVAL", "5000"),
                Map.entry("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
                Map.entry("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
                Map.entry("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"),
                Map.entry("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "Cumulative"),
                Map.entry(
                        "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
                        "base2_exponential_bucket_histogram"),
                Map.entry("OTEL_METRICS_EXPORTER", "otlp")));
        assertThat(settings.headers())
                .containsExactlyInAnyOrderEntriesOf(Map.of("authorization", "Bearer a+b", "x-tenant", "two"));
        assertThat(settings.timeout()).isEqualTo(Duration.ofSeconds(2));
        assertThat(settings.every()).isEqualTo(Duration.ofSeconds(5));
        assertThat(settings.gzip()).isTrue();
        assertThat(settings.exponential()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "OTEL_EXPORTER_OTLP_ENDPOINT | nonsense | OTEL_EXPORTER_OTLP_ENDPOINT takes a URL",
                "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT | nonsense | OTEL_EXPORTER_OTLP_METRICS_ENDPOINT takes a URL",
                "OTEL_EXPORTER_OTLP_PROTOCOL | grpc | OTEL_EXPORTER_OTLP_PROTOCOL=grpc: bpf4j supports http/protobuf",
                "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL | http/json | bpf4j supports http/protobuf",
                "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE | delta | bpf4j supports cumulative",
                "OTEL_EXPORTER_OTLP_COMPRESSION | zstd | bpf4j supports none and gzip",
                "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION | x | bpf4j supports explicit_bucket_histogram and",
                "OTEL_EXPORTER_OTLP_TIMEOUT | 10s | OTEL_EXPORTER_OTLP_TIMEOUT is a number of milliseconds",
                "OTEL_EXPORTER_OTLP_TIMEOUT | 0 | a number of milliseconds",
                "OTEL_METRIC_EXPORT_INTERVAL | 10 | OTEL_METRIC_EXPORT_INTERVAL is a time from one second to one day",
                "OTEL_EXPORTER_OTLP_HEADERS | secret | has a part that is not name=value",
                "OTEL_EXPORTER_OTLP_HEADERS | a=secret%2 | has a value with a %",
                "OTEL_EXPORTER_OTLP_HEADERS | a b=secret | the header 'a b' is not valid in HTTP, or can't be set",
                "OTEL_EXPORTER_OTLP_HEADERS | a=secret%0aHost:x | the header 'a' is not valid in HTTP, or can't be set",
                "OTEL_EXPORTER_OTLP_HEADERS | Host=secret | the header 'Host' is not valid in HTTP, or can't be set",
                "OTEL_EXPORTER_OTLP_HEADERS | Content-Type=secret | the header Content-Type is set by bpf4j itself",
                "OTEL_EXPORTER_OTLP_HEADERS | a=secret,A=secret | the header A occurs twice",
                "OTEL_RESOURCE_ATTRIBUTES | x | has a part that is not name=value: 'x'",
                "OTEL_RESOURCE_ATTRIBUTES | x=% | OTEL_RESOURCE_ATTRIBUTES has a %",
                "OTEL_SDK_DISABLED | true | contradict each other",
                "OTEL_METRICS_EXPORTER | none | OTEL_METRICS_EXPORTER=none and --otlp contradict",
                "OTEL_CONFIG_FILE | /x | OTEL_CONFIG_FILE: bpf4j does not read such a file",
            })
    void whatBpf4jDoesNotDoIsRefused(String variable, String value, String message) {
        assertThatThrownBy(() -> of(Map.of(variable, value)))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("secret");
    }

    @Test
    void aKeyNeedsItsCertificate() {
        assertThatThrownBy(() -> of("https://collector", Map.of("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/x")))
                .isInstanceOf(UsageException.class)
                .hasMessageContaining("set both or none");
    }

    @Test
    void theResourceIsThisRunOfTheAgent() throws IOException {
        OtlpSettings settings = of(Map.of());
        assertThat(attribute(settings, "service.name")).isEqualTo("bpf4j");
        assertThat(attribute(settings, "service.version")).isEqualTo("1.2.3");
        assertThat(attribute(settings, "host.name")).isNotBlank();
        assertThat(attribute(settings, "telemetry.sdk.name")).isEqualTo("opentelemetry");
        assertThat(settings.resource().getAttribute(AttributeKey.longKey("process.pid")))
                .isEqualTo(ProcessHandle.current().pid());
        assertThat(attribute(settings, "service.instance.id"))
                .isNotEqualTo(attribute(of(Map.of()), "service.instance.id"));
        OtlpSettings named = of(Map.of(
                "OTEL_RESOURCE_ATTRIBUTES",
                "service.name=a, deployment.environment.name=pro%64,host.name=web1",
                "OTEL_SERVICE_NAME",
                "shop"));
        assertThat(attribute(named, "service.name")).isEqualTo("shop");
        assertThat(attribute(named, "deployment.environment.name")).isEqualTo("prod");
        assertThat(attribute(named, "host.name")).isEqualTo("web1");
    }
}
