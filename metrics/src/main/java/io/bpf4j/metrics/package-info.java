/**
 * The description of a metric that comes from an answer. {@link io.bpf4j.metrics.AnswerMetric} has the names, labels
 * and limits; {@link io.bpf4j.metrics.prometheus.AnswerCollector} and {@link
 * io.bpf4j.metrics.opentelemetry.AnswerProducer} read the answer when the metric is collected.
 *
 * {@snippet lang = "java":
 * AnswerMetric queries = AnswerMetric.named("db.query.duration")
 *         .withHelp("The time of queries, measured in the kernel.") .withLabel("begin.database", "database")
 *         .withConstant("cluster", "eu-1") .withBounds(0.001, 0.01, 0.1, 1, 10) .withMaxSeries(200); }
 */
package io.bpf4j.metrics;
