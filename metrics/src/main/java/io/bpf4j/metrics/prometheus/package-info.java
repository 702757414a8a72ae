/**
 * Answers as metrics of the Prometheus Java client. Needs {@code io.prometheus:prometheus-metrics-model} 1.10 or later.
 *
 * {@snippet lang = "java":
 * UsdtScan jvm = UsdtScan.ofProcess(4711);
 * try (Answer pauses = Question.on(jvm.matching("hotspot:gc__*"))
 *         .latency("gc__begin", "gc__end")
 *         .by("begin.full")
 *         .open()) {
 *     AnswerMetric metric = AnswerMetric.named("jvm_gc_pause").withLabel("begin.full", "full");
 *     PrometheusRegistry.defaultRegistry.register(new AnswerCollector(pauses, metric));
 *     pauses.await();
 * }
 * }
 */
package io.bpf4j.metrics.prometheus;
