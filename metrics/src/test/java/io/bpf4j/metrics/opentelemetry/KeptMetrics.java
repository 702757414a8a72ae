package io.bpf4j.metrics.opentelemetry;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.CollectionRegistration;
import io.opentelemetry.sdk.metrics.export.MetricReader;
import java.util.Collection;

/** Hands the metrics of a meter provider to the test. <i>Confined.</i> */
final class KeptMetrics implements MetricReader {
    private CollectionRegistration registration = CollectionRegistration.noop();

    Collection<MetricData> collect() {
        return registration.collectAllMetrics();
    }

    @Override
    public void register(CollectionRegistration with) {
        registration = with;
    }

    @Override
    public CompletableResultCode forceFlush() {
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public CompletableResultCode shutdown() {
        return CompletableResultCode.ofSuccess();
    }

    @Override
    public AggregationTemporality getAggregationTemporality(InstrumentType type) {
        return AggregationTemporality.CUMULATIVE;
    }
}
