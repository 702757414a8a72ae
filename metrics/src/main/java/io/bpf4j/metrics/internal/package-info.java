/** What both kinds of metrics read of an answer: series with labels, in the answer's own buckets and units. */
package io.bpf4j.metrics.internal;
