package io.bpf4j.loader.ring;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import java.util.function.IntSupplier;

/**
 * The consumer of the ring of one CPU whose new records overwrite the oldest ones.
 *
 * <p><b>The memory</b> is that of {@link PerfConsumer}, but mapped for reading only, by which the kernel knows that
 * there is no reader to wait for (kernel/events/ring_buffer.c, {@code rb->overwrite}), and there is no tail. The kernel
 * writes backward: the head starts at 0 and becomes smaller by the size of each record ({@code
 * perf_output_begin_backward}). So the records from the head upward are ever older ones, and the last that is whole ends
 * at most a ring's size above the head; of an older one only the start may be left:
 *
 * <pre>
 * head           the newest record
 * head + 0x20    the one before
 *      …
 * head + size    the end of the ring; the record that continues beyond it is overwritten there
 * </pre>
 *
 * <p>If records were lost while the ring was paused, the kernel writes a record that says so, and the next sample, at
 * once and in this order: the one that says so is at the lower position.
 *
 * <p><b>The order of reading:</b> records are found from the newest to the oldest, and passed from the oldest to the
 * newest. A pass ends above the records that an earlier one has passed.
 *
 * <p><b>Pausing:</b> only a paused ring stays as it is. The kernel does not wait for a program that is writing on
 * another CPU when the ring is paused; that program ends its record within moments, with its preemption disabled.
 *
 * <p>Tested by {@code BackwardPerfConsumerTest} and {@code PerfBufferOnKernelTest}.
 */
final class BackwardPerfConsumer extends PerfConsumer {
    private final IntSupplier pauses;

    /** Records from here upward have been passed. */
    private volatile long read;

    /**
     * The consumer of the ring in the given memory.
     *
     * @param pauses how often the ring was paused and resumed so far: an odd number while it is paused
     */
    BackwardPerfConsumer(
            int cpu,
            PerfBuffer.LostHandler lostHandler,
            MemorySegment positions,
            MemorySegment data,
            IntSupplier pauses) {
        super(cpu, lostHandler, positions, data);
        this.pauses = pauses;
    }

    @Override
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    int consume(RecordHandler handler, BooleanSupplier stop, boolean holdBack) {
        int pause = pauses.getAsInt();
        if (pause % 2 == 0) {
            throw new IllegalStateException("a perf buffer that overwrites its oldest records can be read only while it"
                    + " is paused: call pause() first, and resume() afterwards");
        }
        long head = head();
        long end = end(head);
        long[] starts = starts(head, end);
        int handled = 0;
        long size = 0;
        try {
            for (int i = starts.length - 2; i >= 0 && !stop.getAsBoolean(); i--) {
                // Moved first, so that the record counts as read if the handler throws.
                read = starts[i];
                for (long at = starts[i]; at < starts[i + 1]; at += length(at)) {
                    if (isSample(at)) {
                        int raw = sampleBytes(at, length(at));
                        handled++;
                        size += raw;
                        pass(at, length(at), raw, handler);
                    } else {
                        passOver(at);
                    }
                    if (pauses.getAsInt() != pause) {
                        throw new IllegalStateException("the perf buffer was resumed while it was read: the last record"
                                + " that was passed may be overwritten");
                    }
                }
            }
        } finally {
            if (handled > 0) {
                records += handled;
                bytes += size;
            }
        }
        return handled;
    }

    /**
     * Where the whole records start, the newest first, and where the last of them ends. A record of lost ones and the
     * sample after it count as one.
     */
    private long[] starts(long head, long end) {
        long[] starts = new long[64];
        int count = 0;
        long position = head;
        boolean afterLoss = false;
        while (position < end) {
            int length = length(position);
            if (isMalformed(length) && position == head) {
                read = head; // no record can be found after a malformed one
                throw malformed(length, end - position);
            }
            if (isMalformed(length) || length > end - position) {
                break; // overwritten, at its end or by a program that was still writing when the ring was paused
            }
            if (!afterLoss) {
                if (count + 1 == starts.length) {
                    starts = Arrays.copyOf(starts, count * 2);
                }
                starts[count++] = position;
            }
            afterLoss = isLoss(position);
            position += length;
        }
        starts[count] = position;
        return Arrays.copyOf(starts, count + 1);
    }

    private long head() {
        return (long) POSITION.getAcquire(positions, HEAD);
    }

    private long end(long head) {
        return Math.min(read, head + capacity());
    }

    @Override
    long pending() {
        long head = head();
        return end(head) - head;
    }
}
