package io.bpf4j.loader.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reading end against a producer that writes the memory as the kernel does. */
class PerfConsumerTest {
    private static final int SIZE = 512;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment positions = arena.allocate(4096, 8);
    private final MemorySegment data = arena.allocate(SIZE, 8);
    private final List<String> seen = new ArrayList<>();
    private final PerfConsumer consumer =
            new PerfConsumer(3, (cpu, count) -> seen.add("lost " + count + " on " + cpu), positions, data);

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void theBytesOfTheComment() {
        byte[] bytes = HexFormat.of()
                .parseHex("0900000000002000" + "14000000" + "6162636465666768696a6b6c6d6e6f70" + "00000000"
                        + "0200000000001800" + "1122334455667788" + "0300000000000000");
        if (java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN) {
            MemorySegment.copy(bytes, 0, data, ValueLayout.JAVA_BYTE, 0, bytes.length);
            positions.set(ValueLayout.JAVA_LONG, 0x400, 0x38);
            assertThat(consumer.pending()).isEqualTo(0x38);
            assertThat(consume()).isEqualTo(1);
            assertThat(seen).containsExactly("abcdefghijklmnop", "lost 3 on 3");
            assertThat(positions.get(ValueLayout.JAVA_LONG, 0x408)).isEqualTo(0x38);
            assertThat(consumer.records).isEqualTo(1);
            assertThat(consumer.bytes).isEqualTo(20);
            assertThat(consumer.lost).isEqualTo(3);
            assertThat(consumer.pending()).isZero();
        }
    }

    @Test
    void recordsAcrossTheEndAreWhole() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        List<String> written = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            String text = "x".repeat(random.nextInt(200)) + i;
            written.add(text);
            write(text);
            if (i % 7 == 0) {
                writeLost(i);
                written.add("lost " + i + " on 3");
            }
            consume();
        }
        assertThat(seen).isEqualTo(written);
        assertThat(tail()).isGreaterThan(100L * SIZE);
        assertThat(consumer.records).isEqualTo(2000);
    }

    @Test
    void aRecordThatTheHandlerThrowsAtCountsAsRead() {
        write("one");
        write("two");
        write("three");
        assertThatThrownBy(() -> consumer.consume(
                        (_, segment, offset, size) -> {
                            seen.add(text(segment, offset, size));
                            if (seen.size() == 2) {
                                throw new IllegalStateException("thrown by the handler");
                            }
                        },
                        () -> false))
                .hasMessage("thrown by the handler");
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("one", "two", "three");
        assertThat(consumer.records).isEqualTo(3);
    }

    @Test
    void spaceIsGivenBackDuringALongPass() {
        for (int i = 0; i < 12; i++) {
            write("0123456789abcdef0123"); // 32 bytes each
        }
        List<Long> tails = new ArrayList<>();
        consumer.consume((_, _, _, _) -> tails.add(tail()), () -> false);
        assertThat(tails).startsWith(0L, 32L).isSorted();
        assertThat(tails.getLast()).isGreaterThanOrEqualTo(300);
    }

    @Test
    void aPassEndsWhereTheKernelWasAndWhereItIsStopped() {
        write("one");
        write("two");
        assertThat(consumer.consume((_, _, _, _) -> seen.add("."), () -> seen.size() == 1))
                .isEqualTo(1);
        seen.clear();
        int handled = consumer.consume((_, _, _, _) -> write("another"), () -> false);
        assertThat(handled).isEqualTo(1);
        assertThat(consume()).isEqualTo(1);
    }

    @Test
    void otherRecordsArePassedOver() {
        header(16, 5); // PERF_RECORD_THROTTLE
        advance(16);
        write("after");
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("after");
    }

    @Test
    void aBrokenRecordIsAnErrorAndNoEndlessLoop() {
        for (int length : new int[] {0, 7, 12, 4096}) {
            header(length, PerfConsumer.RECORD_SAMPLE);
            advance(16);
            assertThatThrownBy(this::consume)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("malformed record of " + length + " bytes in the perf buffer of CPU 3");
            assertThat(consumer.pending()).isZero();
        }
        header(16, PerfConsumer.RECORD_SAMPLE);
        data.set(ValueLayout.JAVA_INT, (head() + 8) % SIZE, 5);
        advance(16);
        assertThatThrownBy(this::consume).hasMessageContaining("malformed sample of 5 bytes in a record of 16 bytes");
    }

    @Test
    void theDataCantBeWritten() {
        write("one");
        consumer.consume(
                (_, segment, offset, _) -> assertThatThrownBy(
                                () -> segment.set(ValueLayout.JAVA_BYTE, offset, (byte) 1))
                        .isInstanceOf(IllegalArgumentException.class),
                () -> false);
    }

    private int consume() {
        return consumer.consume((_, segment, offset, size) -> seen.add(text(segment, offset, size)), () -> false);
    }

    /** Without the padding. */
    private static String text(MemorySegment segment, long offset, int size) {
        String text = new String(segment.asSlice(offset, size).toArray(ValueLayout.JAVA_BYTE), US_ASCII);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }

    private long head() {
        return positions.get(ValueLayout.JAVA_LONG, PerfConsumer.HEAD);
    }

    private long tail() {
        return positions.get(ValueLayout.JAVA_LONG, PerfConsumer.TAIL);
    }

    private void write(String text) {
        byte[] bytes = text.getBytes(US_ASCII);
        int raw = (bytes.length + 4 + 7) / 8 * 8 - 4;
        header(12 + raw, PerfConsumer.RECORD_SAMPLE);
        data.set(ValueLayout.JAVA_INT, (head() + 8) % SIZE, raw);
        for (int i = 0; i < raw; i++) {
            data.set(ValueLayout.JAVA_BYTE, (head() + 12 + i) % SIZE, i < bytes.length ? bytes[i] : 0);
        }
        advance(12 + raw);
    }

    private void writeLost(long count) {
        header(24, PerfConsumer.RECORD_LOST);
        data.set(ValueLayout.JAVA_LONG, (head() + 16) % SIZE, count);
        advance(24);
    }

    private void header(int length, int type) {
        data.set(ValueLayout.JAVA_INT, head() % SIZE, type);
        data.set(ValueLayout.JAVA_SHORT, (head() + 4) % SIZE, (short) 0);
        data.set(ValueLayout.JAVA_SHORT, (head() + 6) % SIZE, (short) length);
    }

    private void advance(int bytes) {
        assertThat(head() + bytes - tail()).as("the kernel waits for room").isLessThanOrEqualTo(SIZE);
        positions.set(ValueLayout.JAVA_LONG, PerfConsumer.HEAD, head() + bytes);
    }
}
