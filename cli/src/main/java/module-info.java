/** The command {@code bpf4j}. */
@SuppressWarnings(
        "requires-automatic") // the libraries for metrics have the names of their modules in their manifests only
@org.jspecify.annotations.NullMarked
module io.bpf4j.cli {
    requires static org.jspecify;
    requires io.bpf4j.bindings;
    requires io.bpf4j.trace;
    requires io.bpf4j.metrics;
    requires io.bpf4j.objects;
    requires io.bpf4j.process;
    requires info.picocli;
    requires io.opentelemetry.api;
    requires io.opentelemetry.common;
    requires io.opentelemetry.exporter.otlp;
    requires io.opentelemetry.sdk.common;
    requires io.opentelemetry.sdk.metrics;
    requires io.prometheus.metrics.exporter.httpserver;
    requires io.prometheus.metrics.model;
    requires java.logging; // of the libraries for metrics
    requires java.net.http;
    requires jdk.httpserver;
    requires jdk.unsupported; // signals
    // For compressed files. The modules that read them require these libraries only when they are compiled.
    requires org.apache.commons.compress;
    requires org.tukaani.xz;

    provides System.LoggerFinder with
            io.bpf4j.cli.output.Warnings;
    provides java.net.spi.InetAddressResolverProvider with
            io.bpf4j.cli.export.NoReverseLookup;

    // picocli fills the annotated fields of the commands by reflection; nothing else is open.
    opens io.bpf4j.cli.command to
            info.picocli;
}
