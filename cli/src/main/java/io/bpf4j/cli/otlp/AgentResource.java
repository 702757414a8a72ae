package io.bpf4j.cli.otlp;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.sys.Host;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.resources.Resource;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/**
 * The OpenTelemetry resource of the metrics: this agent, this machine, this run. Names and meanings are those of
 * OpenTelemetry's semantic conventions for resources.
 *
 * <p>Tested by {@code OtlpSettingsTest}.
 */
final class AgentResource {
    private static final String VARIABLE = "OTEL_RESOURCE_ATTRIBUTES";

    private AgentResource() {}

    /**
     * The attributes of this process, and those of {@code OTEL_RESOURCE_ATTRIBUTES} and {@code OTEL_SERVICE_NAME},
     * which override them.
     *
     * @throws UsageException if a variable is malformed
     */
    static Resource of(OtlpSettings.Variables variables, String version) throws IOException {
        AttributesBuilder attributes = Attributes.builder()
                .put("service.name", "bpf4j")
                .put("service.version", version)
                // Each run counts from 0, and a machine may run two agents.
                .put("service.instance.id", UUID.randomUUID().toString())
                .put("host.name", hostName())
                .put("host.arch", architecture())
                .put("os.type", "linux")
                .put("process.pid", ProcessHandle.current().pid())
                .put("process.runtime.name", System.getProperty("java.runtime.name", "unknown"))
                .put("process.runtime.version", System.getProperty("java.runtime.version", "unknown"));
        variables.named(VARIABLE).ifPresent(text -> add(attributes, text));
        variables.named("OTEL_SERVICE_NAME").ifPresent(name -> attributes.put("service.name", name));
        return Resource.getDefault().merge(Resource.create(attributes.build()));
    }

    /** What gethostname(2) returns. No name is resolved, because that may take seconds. */
    private static String hostName() throws IOException {
        return Files.readString(Host.running().proc().resolve("sys/kernel/hostname"))
                .strip();
    }

    /** The architecture as a value of {@code host.arch}. */
    private static String architecture() {
        String java = System.getProperty("os.arch", "unknown").toLowerCase(Locale.ROOT);
        return Map.of("aarch64", "arm64", "x86_64", "amd64").getOrDefault(java, java);
    }

    private static void add(AttributesBuilder attributes, String text) {
        for (String part : text.split(",", -1)) {
            if (part.isBlank()) {
                continue;
            }
            int equals = part.indexOf('=');
            if (equals <= 0) {
                throw new UsageException(VARIABLE + " has a part that is not name=value: '" + part + "'");
            }
            try {
                attributes.put(
                        part.substring(0, equals).strip(),
                        URLDecoder.decode(
                                part.substring(equals + 1).strip().replace("+", "%2B"), StandardCharsets.UTF_8));
            } catch (IllegalArgumentException e) {
                throw new UsageException(
                        VARIABLE + " has a % that is not followed by two hexadecimal digits: '" + part + "'");
            }
        }
    }
}
