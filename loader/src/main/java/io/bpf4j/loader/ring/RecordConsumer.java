package io.bpf4j.loader.ring;

import java.util.function.BooleanSupplier;

/** The consumer of one ring of a {@link RecordReader}. <i>Single consumer</i>; any thread may read the statistics. */
abstract sealed class RecordConsumer permits RingConsumer, PerfConsumer {
    /** The space that is read before the producer gets it back: a ring's size divided by this. */
    static final int STEPS = 16;

    // Written by the consumer alone, read by any thread: no update is lost, and readers may see updates late.
    volatile long records;
    volatile long bytes;
    volatile long discarded;
    volatile long lost;

    /**
     * Passes the available records to the handler, up to the producer's current position.
     *
     * @param stop checked between records: true ends the pass
     * @return number of records
     */
    abstract int consume(RecordHandler handler, BooleanSupplier stop);

    /** Bytes that programs have written or reserved and the consumer has not released, headers included. */
    abstract long pending();

    /** Bytes that programs can write before the consumer has to release some. */
    abstract long capacity();
}
