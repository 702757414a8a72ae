package io.bpf4j.cli.export;

import io.bpf4j.trace.RunningProgram.Usage;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A question that the agent asks, as the metrics of its answer. <i>Thread-safe.</i> */
public interface Exported extends MultiCollector, AutoCloseable {
    /**
     * The same for OTLP.
     *
     * @param exponential whether a histogram without bounds of its own is exponential
     */
    Collection<MetricData> produce(Resource resource, boolean exponential);

    /** Why it does not count, or can't be read; empty if all is well. */
    Optional<String> problem();

    /** Why its answer may lack events: what {@code NAME_exact} is 0 for, besides events that are counted as missing. */
    List<String> gaps();

    /** What it is attached to, and what its BPF programs have cost; empty if it has ended. */
    Optional<Usage> usage();

    /**
     * Detaches it for now, in the background. Its events stay, and it has a problem until it goes on. Does nothing if it is
     * suspended, or has ended.
     *
     * @param why the problem
     */
    void suspend(String why);

    /** Whether it is suspended, or about to go on. */
    boolean isSuspended();

    /** Lets it go on if it is suspended: it is attached again in the background. */
    void resume();

    /** Starts to end it, so that several end at the same time. */
    void stop();

    /** Ends it. It is detached from its probes when this method has returned. */
    @Override
    void close();
}
