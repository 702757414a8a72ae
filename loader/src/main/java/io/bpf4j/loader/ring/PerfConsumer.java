package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The consumer of the ring of one CPU in a perf buffer.
 *
 * <p><b>The memory</b> (include/uapi/linux/perf_event.h, struct perf_event_mmap_page). One page for the positions, then
 * the data, a power of two of pages. The kernel writes {@code data_head}, at 0x400: the position of its next write. The
 * consumer writes {@code data_tail}, at 0x408: the position up to which it has read. Both count bytes without wrapping,
 * and are taken modulo the size. Unlike the data of a BPF ring buffer, the data is mapped only once, so a record may
 * wrap around to the start; such a record is copied into contiguous memory first.
 *
 * <p><b>A record</b> starts with a header of 8 bytes: {@code u32 type, u16 misc, u16 size}, where the size includes the
 * header and is a multiple of 8. Two types matter here. PERF_RECORD_SAMPLE (9), if only PERF_SAMPLE_RAW is requested,
 * continues with {@code u32 size} and the program's data, padded so that the whole record is a multiple of 8; the size
 * includes the padding, so that 16 bytes arrive as 20. PERF_RECORD_LOST (2) continues with {@code u64 id, u64 lost}:
 *
 * <pre>
 * tail 0x00   09 00 00 00 00 00 20 00 | 14 00 00 00 | 16 bytes, 4 of padding     a record
 *      0x20   02 00 00 00 00 00 18 00 | id, 8 bytes | 03 00 00 00 00 00 00 00    three records did not fit here
 *      0x38   head
 * </pre>
 *
 * <p><b>The order of reads and writes</b> (kernel/events/ring_buffer.c, perf_output_put_handle). The kernel writes the
 * data, then the head with release. The consumer reads the head with acquire, then the data, then writes the tail with
 * release. The kernel overwrites no data after the tail that it has seen. A full ring loses new records, and the kernel
 * reports how many as soon as the next record fits.
 *
 * <p><b>When the tail is written:</b> as in {@link RingConsumer}, whenever a sixteenth of the ring has been read and at
 * the end of the pass, also if the handler throws; the record for which it threw counts as read.
 */
sealed class PerfConsumer extends RecordConsumer permits BackwardPerfConsumer {
    static final long HEAD = 0x400;
    static final long TAIL = 0x408;

    static final int RECORD_LOST = 2;
    static final int RECORD_SAMPLE = 9;

    static final VarHandle POSITION = JAVA_LONG.varHandle();

    private static final int HEADER_SIZE = 8;
    private static final int SIZE = 6; // in the header
    private static final int LOST_COUNT = 16;
    private static final int RAW_SIZE = 8;
    private static final int RAW_DATA = 12;

    /** A record's size has 16 bits. */
    private static final int MAX_RECORD_BYTES = 1 << 16;

    private final int cpu;
    private final PerfBuffer.LostHandler lostHandler;
    final MemorySegment positions;
    private final MemorySegment data;
    private final long mask;

    /** Contiguous memory for a record that wraps around; allocated for the first such record. */
    private @Nullable MemorySegment joined;

    /**
     * The consumer of the ring in the given memory.
     *
     * @param positions the page with head and tail
     * @param data the ring's data, a power of two in size
     */
    PerfConsumer(int cpu, PerfBuffer.LostHandler lostHandler, MemorySegment positions, MemorySegment data) {
        this.cpu = cpu;
        this.lostHandler = lostHandler;
        this.positions = positions;
        this.data = data.asReadOnly();
        this.mask = data.byteSize() - 1;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    int consume(RecordHandler handler, BooleanSupplier stop, boolean holdBack) {
        long start = (long) POSITION.get(positions, TAIL); // this thread's last write
        long end = (long) POSITION.getAcquire(positions, HEAD);
        long position = start;
        long written = start;
        int handled = 0;
        long size = 0;
        try {
            while (position < end && !stop.getAsBoolean()) {
                long at = position;
                int length = length(at);
                if (isMalformed(length) || length > end - at) {
                    position = end; // no record can be found after a malformed one
                    throw malformed(length, end - start);
                }
                // Moved first, so that the record counts as read if the handler throws.
                position += length;
                if (isSample(at)) {
                    int raw = sampleBytes(at, length);
                    handled++;
                    size += raw;
                    pass(at, length, raw, handler);
                } else {
                    passOver(at);
                }
                if (position - written > mask / STEPS) {
                    POSITION.setRelease(positions, TAIL, position);
                    written = position;
                }
            }
        } finally {
            if (position != written) {
                POSITION.setRelease(positions, TAIL, position);
            }
            if (handled > 0) {
                records += handled;
                bytes += size;
            }
        }
        return handled;
    }

    /** The bytes of the record at a position, as its header says. */
    final int length(long position) {
        return Short.toUnsignedInt(data.get(JAVA_SHORT, (position & mask) + SIZE));
    }

    static boolean isMalformed(int length) {
        return length < HEADER_SIZE || length % 8 != 0;
    }

    final IllegalStateException malformed(int length, long left) {
        return new IllegalStateException("malformed record of " + length + " bytes in the perf buffer of CPU " + cpu
                + ", with " + left + " bytes to read: other code writes to its memory");
    }

    /** Whether a program has written the record at a position. */
    final boolean isSample(long position) {
        return type(position) == RECORD_SAMPLE;
    }

    /** Whether the record at a position tells of lost ones. */
    final boolean isLoss(long position) {
        return type(position) == RECORD_LOST;
    }

    private int type(long position) {
        return data.get(JAVA_INT, position & mask);
    }

    /** The bytes of data of the sample at a position. */
    final int sampleBytes(long position, int length) {
        int raw = data.get(JAVA_INT, (position + RAW_SIZE) & mask);
        if (raw < 0 || raw > length - RAW_DATA) {
            throw new IllegalStateException(
                    "malformed sample of " + raw + " bytes in a record of " + length + " bytes on CPU " + cpu);
        }
        return raw;
    }

    /** Passes the sample at a position to the handler. */
    final void pass(long position, int length, int raw, RecordHandler handler) {
        long at = position & mask;
        if (at + length > data.byteSize()) {
            handler.onRecord(cpu, join(at, length), RAW_DATA, raw);
        } else {
            handler.onRecord(cpu, data, at + RAW_DATA, raw);
        }
    }

    /** A record that is no sample: of lost ones, of throttling, or another one about the event itself. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    final void passOver(long position) {
        if (isLoss(position)) {
            long count = data.get(JAVA_LONG, (position + LOST_COUNT) & mask);
            lost += count;
            lostHandler.onLost(cpu, count);
        }
    }

    private MemorySegment join(long at, int length) {
        MemorySegment buffer = joined;
        if (buffer == null) {
            buffer = Arena.ofAuto().allocate(MAX_RECORD_BYTES, 8);
            joined = buffer;
        }
        long first = data.byteSize() - at;
        MemorySegment.copy(data, at, buffer, 0, first);
        MemorySegment.copy(data, 0, buffer, first, length - first);
        return buffer.asReadOnly();
    }

    /** Nothing is held back: the kernel's wake-ups don't depend on the position. */
    @Override
    void release() {}

    @Override
    long pending() {
        return (long) POSITION.getAcquire(positions, HEAD) - (long) POSITION.getAcquire(positions, TAIL);
    }

    @Override
    long capacity() {
        return mask + 1;
    }
}
