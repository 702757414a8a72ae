/**
 * Answers of questions as metrics, for the Prometheus client and the OpenTelemetry SDK.
 *
 * <p>Use it when a program that asks questions is scraped by Prometheus or pushes to an OpenTelemetry collector. {@link
 * io.bpf4j.metrics} describes a metric; {@link io.bpf4j.metrics.prometheus} and {@link io.bpf4j.metrics.opentelemetry}
 * pass it to one of these libraries, on which the program has to depend. Neither package needs the library of the
 * other.
 */
@SuppressWarnings({
    "requires-automatic", // the manifests of these libraries have their module names
    "module" // a module that is compiled later
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
    // The command checks labels before a question starts.
    exports io.bpf4j.metrics.internal to
            io.bpf4j.cli;
    // The agent also pushes its own metrics.
    exports io.bpf4j.metrics.opentelemetry.internal to
            io.bpf4j.cli;
}
