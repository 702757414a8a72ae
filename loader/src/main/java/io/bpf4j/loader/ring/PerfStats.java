package io.bpf4j.loader.ring;

/**
 * What the consumer of a perf buffer has seen so far, all CPUs together. <i>Immutable.</i>
 *
 * @param records records handed out
 * @param bytes bytes of those records, padding included
 * @param lost records that found no room, as far as the kernel has said: it says so when there is room again
 * @param waits times that the consumer went to sleep
 */
public record PerfStats(long records, long bytes, long lost, long waits) {}
