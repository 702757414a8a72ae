package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

/**
 * The reading end of one ring buffer. <i>Single consumer</i>; figures may be read by any thread.
 *
 * <p><b>The memory</b> (kernel/bpf/ringbuf.c, struct bpf_ringbuf). A page that user space writes has the consumer's
 * position at its start. A page that it only reads has the producer's position. Behind that is the data, a power of two
 * in size, mapped twice in a row, so that a record across the end is contiguous all the same. Positions are bytes, count
 * up for ever, and are taken modulo the size.
 *
 * <p><b>A record</b> starts with a header of 8 bytes: u32 length, whose bit 31 (BUSY) says that the program is still
 * writing and bit 30 (DISCARD) that it took the record back; and a u32 that is the kernel's own. The payload follows, and
 * the next header is at the next multiple of 8:
 *
 * <pre>
 * position 0x20   0c 00 00 00 | 02 00 00 00 | 12 bytes, 4 of padding
 *          0x38   18 00 00 80 | ...           BUSY: nothing more to read yet
 * </pre>
 *
 * <p><b>The order of reads and writes.</b> The producer reserves in order, under a lock, by moving its position; records
 * are then finished in any order, each by writing its length without BUSY. So the position is read with acquire, then the
 * length with acquire, and only then the payload. The consumer gives space back by writing its position with release,
 * when it is done with the payload.
 *
 * <p><b>Sleeping.</b> A program that finishes a record wakes the consumer only if the consumer's position is at that very
 * record, that is, if it has read all before. A consumer that went to sleep right after writing its position, while that
 * write still sits in its processor's store buffer, would not be seen as having caught up and would not be woken. Each
 * pass therefore starts with a full fence: a pass that found nothing, and so wrote nothing, is what may precede sleep.
 *
 * <p><b>When the position is written.</b> After each record would be simple, and is the most expensive: the cache line
 * travels between the processors for each, and a producer that sees the consumer keep up has to wake it each time. Only
 * at the end of a pass would keep space from the producer for long. So: whenever a sixteenth of the ring has been read,
 * and at the end of the pass, also when the handler throws; the record that it threw at counts as read.
 */
final class RingConsumer {
    static final int HEADER_SIZE = 8;
    static final int BUSY = 1 << 31;
    static final int DISCARD = 1 << 30;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle LENGTH = JAVA_INT.varHandle();

    private static final int STEPS = 16;

    private final MemorySegment consumer;
    private final MemorySegment producer;
    private final MemorySegment data;
    private final long mask;

    // Written by the consumer alone, read by anyone: no update is lost, and none has to be seen at once.
    private volatile long records;
    private volatile long bytes;
    private volatile long discarded;

    /**
     * The reading end of the ring in the given memory.
     *
     * @param consumer starts with the consumer's position
     * @param producer starts with the producer's position
     * @param data twice the ring's data, in a row
     */
    RingConsumer(MemorySegment consumer, MemorySegment producer, MemorySegment data) {
        this.consumer = consumer;
        this.producer = producer;
        // The mapping is read-only, so a write through it would end the process: better an exception.
        this.data = data.asReadOnly();
        this.mask = data.byteSize() / 2 - 1;
    }

    /**
     * Hands out what is there, up to where the producer is now.
     *
     * @param stop looked at between records: true ends the pass
     * @return records handed out
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    int consume(RawRecordHandler handler, BooleanSupplier stop) {
        VarHandle.fullFence();
        long start = (long) POSITION.get(consumer, 0L); // our own last write
        long end = (long) POSITION.getAcquire(producer, 0L);
        long position = start;
        long written = start;
        int handled = 0;
        int dropped = 0;
        long size = 0;
        try {
            while (position < end && !stop.getAsBoolean()) {
                long at = position & mask;
                int header = (int) LENGTH.getAcquire(data, at);
                if ((header & BUSY) != 0) {
                    break;
                }
                int length = header & ~(BUSY | DISCARD);
                // Moved first: should the handler throw, the record counts as read.
                position += ((long) HEADER_SIZE + length + 7) & ~7L;
                if ((header & DISCARD) != 0) {
                    dropped++;
                } else {
                    handled++;
                    size += length;
                    handler.onRecord(data, at + HEADER_SIZE, length);
                }
                if (position - written > mask / STEPS) {
                    POSITION.setRelease(consumer, 0L, position);
                    written = position;
                }
            }
        } finally {
            if (position != written) {
                POSITION.setRelease(consumer, 0L, position);
            }
            if (position != start) {
                records += handled;
                bytes += size;
                discarded += dropped;
            }
        }
        return handled;
    }

    /** Bytes that programs have reserved and the consumer has not given back, headers included. */
    long pending() {
        return (long) POSITION.getAcquire(producer, 0L) - (long) POSITION.getAcquire(consumer, 0L);
    }

    long records() {
        return records;
    }

    long bytes() {
        return bytes;
    }

    long discarded() {
        return discarded;
    }
}
