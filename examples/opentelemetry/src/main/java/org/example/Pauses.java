package org.example;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.opentelemetry.AnswerProducer;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Question;
import io.bpf4j.usdt.UsdtScan;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.metrics.InstrumentType;
import io.opentelemetry.sdk.metrics.SdkMeterProvider;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.ExponentialHistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import io.opentelemetry.sdk.metrics.export.PeriodicMetricReader;
import java.time.Duration;
import java.util.Collection;

/**
 * The pauses of a JVM's garbage collections as an exponential histogram of the OpenTelemetry SDK. The kernel counts; each
 * collection of the SDK reads the counts. The exporter prints them; put your own in its place, such as that for OTLP.
 *
 * <pre>java -jar target/opentelemetry.jar PID SECONDS</pre>
 */
public class Pauses {
    public static void main(String[] args) throws Exception {
        UsdtScan jvm = UsdtScan.ofProcess(Integer.parseInt(args[0]));
        AnswerMetric metric = AnswerMetric.named("jvm.gc.pause").withLabel("begin.full", "full");
        try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*"))
                        .latency("gc__begin", "gc__end")
                        .by("begin.full")
                        .open();
                SdkMeterProvider _ = SdkMeterProvider.builder()
                        .registerMetricProducer(AnswerProducer.exponential(pauses, metric))
                        .registerMetricReader(PeriodicMetricReader.builder(new Printer())
                                .setInterval(Duration.ofMinutes(1))
                                .build())
                        .build()) {
            Thread.sleep(Long.parseLong(args[1]) * 1000);
        } // the provider exports a last time, before the answer is closed
    }

    private static final class Printer implements MetricExporter {
        @Override
        public CompletableResultCode export(Collection<MetricData> metrics) {
            for (MetricData metric : metrics) {
                for (ExponentialHistogramPointData point :
                        metric.getExponentialHistogramData().getPoints()) {
                    System.out.printf(
                            "%s %s: %d, together %.3f %s%n",
                            metric.getName(), point.getAttributes(), point.getCount(), point.getSum(), metric.getUnit());
                }
            }
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public AggregationTemporality getAggregationTemporality(InstrumentType type) {
            return AggregationTemporality.CUMULATIVE;
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }
    }
}
