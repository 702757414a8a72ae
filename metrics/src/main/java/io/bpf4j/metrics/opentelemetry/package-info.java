/**
 * Answers as metrics of the OpenTelemetry SDK. Needs {@code io.opentelemetry:opentelemetry-sdk-metrics} 1.68 or later,
 * of which it uses the public API only.
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(4711);
 * try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*"))
 *                 .latency("gc__begin", "gc__end")
 *                 .open();
 *         SdkMeterProvider _ = SdkMeterProvider.builder()
 *                 .registerMetricProducer(AnswerProducer.exponential(pauses, AnswerMetric.named("jvm.gc.pause")))
 *                 .build()) {
 *     pauses.await();
 * }
 * }
 */
package io.bpf4j.metrics.opentelemetry;
