package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * The producer of a ring that BPF programs read. Only one thread at a time may reserve. The thread that reserved a
 * record finishes it; records may be finished in any order.
 *
 * <p><b>The memory</b> (kernel/bpf/ringbuf.c, commit 205715673844 "bpf: Add bpf_user_ringbuf_drain() helper") is that
 * of a BPF ring buffer, which {@link RingConsumer} explains, with the sides swapped: user space writes the producer's
 * position and the data, and may only read the page with the consumer's position, because the kernel must be able to
 * trust it. The data is mapped twice in a row here too, so that a record across the end is contiguous.
 *
 * <p><b>The protocol</b>, for a record of {@code n} bytes:
 *
 * <pre>
 *   1  read the consumer's position, with acquire: what the kernel has read may now be overwritten
 *   2  is there room for 8 + n, rounded up to 8?                 no: full
 *   3  write the header {u32 n | BUSY, u32 0} at the producer's position
 *   4  move the producer's position after the record, with release: the kernel sees the record as busy
 *   5  write the payload
 *   6  write n without BUSY, or n | DISCARD, with release: the kernel may read the payload
 * </pre>
 *
 * <p>Step 4 is before 5 so that others can reserve meanwhile. A program that reaches a busy record stops there, so a
 * record that is reserved and never finished blocks all later records.
 *
 * <p>The kernel checks these values because they come from user space: a length beyond the producer's position, or a
 * position that is not a multiple of 8, makes {@code bpf_user_ringbuf_drain} fail with EINVAL permanently.
 */
final class UserRingProducer {
    private static final VarHandle POSITION = JAVA_LONG.varHandle();
    private static final VarHandle LENGTH = JAVA_INT.varHandle();

    private final MemorySegment consumer;
    private final MemorySegment producer;
    private final MemorySegment data;
    private final long mask;

    /**
     * The producer of the ring in the given memory.
     *
     * @param consumer starts with the consumer's position; read only
     * @param producer starts with the producer's position
     * @param data twice the ring's data, in a row
     */
    UserRingProducer(MemorySegment consumer, MemorySegment producer, MemorySegment data) {
        this.consumer = consumer;
        this.producer = producer;
        this.data = data;
        this.mask = data.byteSize() / 2 - 1;
    }

    /**
     * Size of the largest record: it fits into an empty ring, and leaves the two highest bits of a length to the flags.
     */
    long maxSize() {
        return Math.min(mask + 1 - RingConsumer.HEADER_SIZE, RingConsumer.DISCARD - 1);
    }

    /** Returns the position of the record's header, or -1 if there is no space. */
    long reserve(int size) {
        long read = (long) POSITION.getAcquire(consumer, 0L);
        long position = (long) POSITION.get(producer, 0L); // this thread's last write
        long space = space(size);
        if (space > mask + 1 - (position - read)) {
            return -1;
        }
        long at = position & mask;
        data.set(JAVA_INT, at, size | RingConsumer.BUSY);
        data.set(JAVA_INT, at + Integer.BYTES, 0);
        POSITION.setRelease(producer, 0L, position + space);
        return at;
    }

    MemorySegment payload(long at, int size) {
        return data.asSlice(at + RingConsumer.HEADER_SIZE, size);
    }

    /** Submits or discards the record. */
    void finish(long at, int size, boolean discard) {
        LENGTH.setRelease(data, at, discard ? size | RingConsumer.DISCARD : size);
    }

    private static long space(int size) {
        return ((long) RingConsumer.HEADER_SIZE + size + 7) & ~7L;
    }

    /** Bytes not yet read by programs, headers included. */
    long pending() {
        return (long) POSITION.getAcquire(producer, 0L) - (long) POSITION.getAcquire(consumer, 0L);
    }
}
