package io.bpf4j.loader.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The memory of a perf ring, and records in it as the kernel writes them. The test decides where they are and when the
 * position moves: the kernel writes forward or backward.
 */
final class PerfRingMemory implements AutoCloseable {
    static final int SIZE = 512;

    private final Arena arena = Arena.ofConfined();
    final MemorySegment positions = arena.allocate(4096, 8);
    final MemorySegment data = arena.allocate(SIZE, 8);

    /** What the kernel has written. */
    long head() {
        return positions.get(ValueLayout.JAVA_LONG, PerfConsumer.HEAD);
    }

    void moveHead(long to) {
        positions.set(ValueLayout.JAVA_LONG, PerfConsumer.HEAD, to);
    }

    /** What the consumer has read. */
    long tail() {
        return positions.get(ValueLayout.JAVA_LONG, PerfConsumer.TAIL);
    }

    void header(long at, int length, int type) {
        data.set(ValueLayout.JAVA_INT, place(at), type);
        data.set(ValueLayout.JAVA_SHORT, place(at + 4), (short) 0);
        data.set(ValueLayout.JAVA_SHORT, place(at + 6), (short) length);
    }

    void number(long at, int value) {
        data.set(ValueLayout.JAVA_INT, place(at), value);
    }

    /** The bytes of the record that {@link #sample} writes. */
    static int space(String text) {
        return 8 + (text.length() + 4 + 7) / 8 * 8;
    }

    void sample(long at, String text) {
        byte[] bytes = text.getBytes(US_ASCII);
        int raw = space(text) - 12;
        header(at, space(text), PerfConsumer.RECORD_SAMPLE);
        number(at + 8, raw);
        for (int i = 0; i < raw; i++) {
            data.set(ValueLayout.JAVA_BYTE, place(at + 12 + i), i < bytes.length ? bytes[i] : 0);
        }
    }

    /** Writes the record of a loss, and returns its bytes. */
    int lost(long at, long count) {
        header(at, 24, PerfConsumer.RECORD_LOST);
        data.set(ValueLayout.JAVA_LONG, place(at + 16), count);
        return 24;
    }

    /** Positions of a ring that is written backward are negative. */
    private static long place(long at) {
        return Math.floorMod(at, SIZE);
    }

    /** A sample as the consumer hands it on, without the padding. */
    static String text(MemorySegment segment, long offset, int size) {
        String text = new String(segment.asSlice(offset, size).toArray(ValueLayout.JAVA_BYTE), US_ASCII);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }

    @Override
    public void close() {
        arena.close();
    }
}
