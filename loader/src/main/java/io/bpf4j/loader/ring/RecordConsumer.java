package io.bpf4j.loader.ring;

import java.util.function.BooleanSupplier;

/** The consumer of one ring of a {@link RecordReader}. <i>Single consumer</i>; any thread may read the statistics. */
abstract sealed class RecordConsumer permits RingConsumer, PerfConsumer {
    /** The space that is read before it is released to the producer: a ring's size divided by this. */
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
     * @param holdBack whether the space of the last record may be released later, by {@link #release}
     * @return number of records
     */
    abstract int consume(RecordHandler handler, BooleanSupplier stop, boolean holdBack);

    /** Releases the space of a record that was held back. */
    abstract void release();

    /** {@link #consume(RecordHandler, BooleanSupplier, boolean)} that holds nothing back. */
    final int consume(RecordHandler handler, BooleanSupplier stop) {
        return consume(handler, stop, false);
    }

    /** Bytes that programs have written or reserved and the consumer has not released, headers included. */
    abstract long pending();

    /** Bytes that programs can write before the consumer has to release some. */
    abstract long capacity();
}
