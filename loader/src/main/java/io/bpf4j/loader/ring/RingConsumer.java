package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;

/**
 * The consumer of one ring buffer.
 *
 * <p><b>The memory</b> (kernel/bpf/ringbuf.c, struct bpf_ringbuf). The first page has the consumer's position at its
 * start; user space writes it. The second page has the producer's position; user space may only read it. The data
 * follows, a power of two in size, mapped twice in a row, so that a record across the end is contiguous. Positions
 * count bytes without wrapping, and are taken modulo the size.
 *
 * <p><b>A record</b> starts with a header of 8 bytes: u32 length, whose bit 31 (BUSY) means that the program is still
 * writing and bit 30 (DISCARD) that it discarded the record; and a u32 for the kernel's own use. The payload follows,
 * and the next header is at the next multiple of 8:
 *
 * <pre>
 * position 0x20   0c 00 00 00 | 02 00 00 00 | 12 bytes, 4 of padding
 *          0x38   18 00 00 80 | ...           BUSY: nothing more to read yet
 * </pre>
 *
 * <p><b>The order of reads and writes.</b> The producer reserves in order, under a lock, by moving its position;
 * records are then finished in any order, each by writing its length without BUSY. So the consumer reads the position
 * with acquire, then the length with acquire, and only then the payload. It releases space by writing its position with
 * release, after it has read the payload.
 *
 * <p><b>Sleeping.</b> A program that finishes a record wakes the consumer only if the consumer's position is at exactly
 * that record, that is, if the consumer has read all earlier ones. If the consumer slept right after writing its
 * position, while the write is still in its processor's store buffer, the program would see an older position and not
 * wake it. Each pass therefore starts with a full fence: the consumer sleeps only after a pass that found nothing, and
 * so wrote nothing.
 *
 * <p><b>When the position is written.</b> Writing it after each record is the most expensive: the cache line moves
 * between the processors for each. Writing it late withholds space from the producer, and a program that forces a
 * wake-up while much waits ({@code bpf_ringbuf_query} of BPF_RB_AVAIL_DATA) forces one for each record as long as the
 * position is old. So the consumer writes it whenever it has read an eighth of the bytes that were not released, at
 * most a sixteenth of the ring: the steps get smaller as less is left. At the end of the pass it writes the rest, also
 * if the handler throws; the record for which it threw counts as read.
 *
 * <p><b>Holding back.</b> A pass that holds back leaves the position at the last record that it read. That record is
 * finished, so no later record is at the position, and a program that leaves the decision to the kernel wakes nobody. A
 * wake-up that comes nevertheless was forced. {@link #release} ends it. A record larger than a sixty-fourth of the ring
 * is not held back.
 */
final class RingConsumer extends RecordConsumer {
    static final int HEADER_SIZE = 8;
    static final int BUSY = 1 << 31;
    static final int DISCARD = 1 << 30;

    /** The position is written whenever this part of the bytes that are not released has been read. */
    private static final int STEP_DIVISOR = 8;

    /** The largest record that is held back: the ring's size divided by this. */
    private static final int HOLD_DIVISOR = 64;

    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle LENGTH = JAVA_INT.varHandle();

    private final int source;
    private final MemorySegment consumer;
    private final MemorySegment producer;
    private final MemorySegment data;
    private final long mask;

    /** The end of what was read; the position in memory is the same, or at the record before it. */
    private volatile long read;

    /**
     * The consumer of the ring in the given memory.
     *
     * @param source for the handler
     * @param consumer starts with the consumer's position
     * @param producer starts with the producer's position
     * @param data twice the ring's data, in a row
     */
    RingConsumer(int source, MemorySegment consumer, MemorySegment producer, MemorySegment data) {
        this.source = source;
        this.consumer = consumer;
        this.producer = producer;
        // The mapping is read-only, so a write would crash the process. A read-only segment throws instead.
        this.data = data.asReadOnly();
        this.mask = data.byteSize() / 2 - 1;
        this.read = (long) POSITION.getAcquire(consumer, 0L);
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    int consume(RecordHandler handler, BooleanSupplier stop, boolean holdBack) {
        VarHandle.fullFence();
        long start = read;
        long end = (long) POSITION.getAcquire(producer, 0L);
        long position = start;
        long last = start; // where the last record that was read starts
        long written = (long) POSITION.get(consumer, 0L); // this thread's last write
        long step = step(end - written);
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
                if (position - written > step) {
                    // The position is then at a finished record, for which no program wakes the consumer.
                    POSITION.setRelease(consumer, 0L, position);
                    written = position;
                    step = step(end - written);
                }
                int length = header & ~(BUSY | DISCARD);
                last = position;
                // Moved first, so that the record counts as read if the handler throws.
                position += ((long) HEADER_SIZE + length + 7) & ~7L;
                if ((header & DISCARD) != 0) {
                    dropped++;
                } else {
                    handled++;
                    size += length;
                    handler.onRecord(source, data, at + HEADER_SIZE, length);
                }
            }
        } finally {
            if (position != start) {
                read = position;
                records += handled;
                bytes += size;
                discarded += dropped;
                boolean hold = holdBack && position - last <= (mask + 1) / HOLD_DIVISOR;
                POSITION.setRelease(consumer, 0L, hold ? last : position);
            } else if (!holdBack) {
                release();
            }
        }
        return handled;
    }

    private long step(long waiting) {
        return Math.min(waiting / STEP_DIVISOR, mask / STEPS);
    }

    @Override
    void release() {
        if ((long) POSITION.get(consumer, 0L) != read) {
            POSITION.setRelease(consumer, 0L, read);
        }
    }

    @Override
    long pending() {
        // A record that is held back has been read; during a pass only the written position is known.
        long released = Math.max(read, (long) POSITION.getAcquire(consumer, 0L));
        return (long) POSITION.getAcquire(producer, 0L) - released;
    }

    @Override
    long capacity() {
        return mask + 1;
    }
}
