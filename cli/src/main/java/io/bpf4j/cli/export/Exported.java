package io.bpf4j.cli.export;

import io.bpf4j.trace.RunningProgram.Usage;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.registry.MultiCollector;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/** A question that the agent asks, and the metrics of its answer. <i>Thread-safe.</i> */
public interface Exported extends MultiCollector, AutoCloseable {
    /**
     * The metrics of its answer for OTLP.
     *
     * @param exponential whether a histogram without bounds of its own is exponential
     */
    Collection<MetricData> produce(Resource resource, boolean exponential);

    /** Why the question does not count, or can't be read; empty if it counts. */
    Optional<String> problem();

    /**
     * Why its answer may lack events: the reasons for which {@code NAME_exact} is 0, besides events that are counted as
     * missing.
     */
    List<String> gaps();

    /** What the question is attached to, and how long its BPF programs have run; empty if it has ended. */
    Optional<Usage> usage();

    /**
     * Suspends the question: detaches it in the background. Its counts stay, and it has a problem until it is resumed.
     * Does nothing if it is suspended already, or has ended.
     *
     * @param why the problem
     */
    void suspend(String why);

    /** Whether the question is suspended, or being resumed. */
    boolean isSuspended();

    /** Resumes the question if it is suspended: attaches it again in the background. */
    void resume();

    /** Begins to end the question without waiting, so that several questions end at the same time. */
    void stop();

    /** Ends the question. When this method returns, it is detached from its probes. */
    @Override
    void close();
}
