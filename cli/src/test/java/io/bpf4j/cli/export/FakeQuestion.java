package io.bpf4j.cli.export;

import io.bpf4j.trace.RunningProgram.Usage;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** A question that is attached to something and has no event; it can be suspended. */
class FakeQuestion implements Exported {
    static final Usage USAGE = new Usage(2, 3, OptionalInt.of(4), Duration.ofMillis(1500), 7);

    private Optional<String> suspension = Optional.empty();

    @Override
    public MetricSnapshots collect() {
        return MetricSnapshots.of();
    }

    @Override
    public Collection<MetricData> produce(Resource resource, boolean exponential) {
        return List.of();
    }

    @Override
    public Optional<String> problem() {
        return suspension;
    }

    @Override
    public List<String> gaps() {
        return List.of();
    }

    @Override
    public Optional<Usage> usage() {
        return Optional.of(USAGE);
    }

    @Override
    public void suspend(String why) {
        suspension = Optional.of(why);
    }

    @Override
    public boolean isSuspended() {
        return suspension.isPresent();
    }

    @Override
    public void resume() {
        suspension = Optional.empty();
    }

    @Override
    public void stop() {}

    @Override
    public void close() {}
}
