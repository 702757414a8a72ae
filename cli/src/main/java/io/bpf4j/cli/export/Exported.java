package io.bpf4j.cli.export;

import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.Optional;

/** A question that the agent asks, as the metrics of its answer. <i>Thread-safe.</i> */
public interface Exported extends MultiCollector, AutoCloseable {
    /** Why it does not count, or can't be read; empty if all is well. */
    Optional<String> problem();

    /** Starts to end it, so that several end at the same time. */
    void stop();

    /** Ends it. It is detached from its probes when this method has returned. */
    @Override
    void close();
}
