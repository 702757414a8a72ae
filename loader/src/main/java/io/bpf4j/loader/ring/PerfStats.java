package io.bpf4j.loader.ring;

/**
 * Statistics of a perf buffer's consumer so far, all CPUs together. <i>Immutable.</i>
 *
 * @param records records passed to the handler
 * @param bytes bytes of those records, padding included
 * @param lost records that did not fit, as far as the kernel has reported: it reports them when the ring has room again
 * @param waits number of times that the consumer waited
 */
public record PerfStats(long records, long bytes, long lost, long waits) {}
