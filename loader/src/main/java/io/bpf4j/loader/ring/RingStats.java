package io.bpf4j.loader.ring;

/**
 * What a consumer has seen so far. Records that found no room are not among it: the program that wanted to write them
 * knows, and counts. <i>Immutable.</i>
 *
 * @param records records handed out
 * @param bytes bytes of those records
 * @param discarded records that the program took back
 * @param waits times that the consumer went to sleep
 */
public record RingStats(long records, long bytes, long discarded, long waits) {}
