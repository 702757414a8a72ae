/**
 * The common part of both kinds of metrics: reads an answer as series with labels, in the answer's own buckets and
 * units.
 */
package io.bpf4j.metrics.internal;
