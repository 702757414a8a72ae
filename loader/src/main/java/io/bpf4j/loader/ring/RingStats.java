package io.bpf4j.loader.ring;

/**
 * Statistics of a ring buffer's consumer so far. Records that did not fit are not included: the program that failed to
 * write them must count them. <i>Immutable.</i>
 *
 * @param records records passed to the handler
 * @param bytes bytes of those records
 * @param discarded records that the program discarded
 * @param waits number of times that the consumer waited
 */
public record RingStats(long records, long bytes, long discarded, long waits) {}
