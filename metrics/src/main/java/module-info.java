/**
 * Answers of questions as metrics, for the Prometheus client and the OpenTelemetry SDK.
 *
 * <p>Use it when a program that asks questions is scraped by Prometheus or pushes to an OpenTelemetry collector. {@link
 * io.bpf4j.metrics} describes a metric; {@link io.bpf4j.metrics.prometheus} and {@link io.bpf4j.metrics.opentelemetry}
 * hand it to one of these libraries, which a program has to bring. Neither package needs the library of the other.
 */
@SuppressWarnings({
    "requires-automatic", // these libraries have the names of their modules in their manifests only
    "module" // one that is compiled later
})
@org.jspecify.annotations.NullMarked
module io.bpf4j.metrics {
    requires static org.jspecify;
    requires transitive io.bpf4j.trace;
    // A program has one of these, or both.
    requires static io.prometheus.metrics.model;
    requires static io.opentelemetry.api;
    requires static io.opentelemetry.sdk.common;
    requires static io.opentelemetry.sdk.metrics;

    exports io.bpf4j.metrics;
    exports io.bpf4j.metrics.opentelemetry;
    exports io.bpf4j.metrics.prometheus;
    // Labels are checked before a question is asked.
    exports io.bpf4j.metrics.internal to
            io.bpf4j.cli;
    // The agent pushes metrics of its own, too.
    exports io.bpf4j.metrics.opentelemetry.internal to
            io.bpf4j.cli;
}
