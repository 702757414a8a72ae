package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    private final PerfRingMemory ring = new PerfRingMemory();
    private final List<String> seen = new ArrayList<>();
    private final PerfConsumer consumer =
            new PerfConsumer(3, (cpu, count) -> seen.add("lost " + count + " on " + cpu), ring.positions, ring.data);

    @AfterEach
    void close() {
        ring.close();
    }

    @Test
    void theBytesOfTheComment() {
        byte[] bytes = HexFormat.of()
                .parseHex("0900000000002000" + "14000000" + "6162636465666768696a6b6c6d6e6f70" + "00000000"
                        + "0200000000001800" + "1122334455667788" + "0300000000000000");
        if (java.nio.ByteOrder.nativeOrder() == java.nio.ByteOrder.LITTLE_ENDIAN) {
            MemorySegment.copy(bytes, 0, ring.data, ValueLayout.JAVA_BYTE, 0, bytes.length);
            ring.positions.set(ValueLayout.JAVA_LONG, 0x400, 0x38);
            assertThat(consumer.pending()).isEqualTo(0x38);
            assertThat(consume()).isEqualTo(1);
            assertThat(seen).containsExactly("abcdefghijklmnop", "lost 3 on 3");
            assertThat(ring.positions.get(ValueLayout.JAVA_LONG, 0x408)).isEqualTo(0x38);
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
        assertThat(ring.tail()).isGreaterThan(100L * PerfRingMemory.SIZE);
        assertThat(consumer.records).isEqualTo(2000);
    }

    @Test
    void aRecordThatTheHandlerThrowsAtCountsAsRead() {
        write("one");
        write("two");
        write("three");
        assertThatThrownBy(() -> consumer.consume(
                        (_, segment, offset, size) -> {
                            seen.add(PerfRingMemory.text(segment, offset, size));
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
        consumer.consume((_, _, _, _) -> tails.add(ring.tail()), () -> false);
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
        ring.header(ring.head(), 16, 5); // PERF_RECORD_THROTTLE
        advance(16);
        write("after");
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("after");
    }

    @Test
    void aBrokenRecordIsAnErrorAndNoEndlessLoop() {
        for (int length : new int[] {0, 7, 12, 4096}) {
            ring.header(ring.head(), length, PerfConsumer.RECORD_SAMPLE);
            advance(16);
            assertThatThrownBy(this::consume)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("malformed record of " + length + " bytes in the perf buffer of CPU 3");
            assertThat(consumer.pending()).isZero();
        }
        ring.header(ring.head(), 16, PerfConsumer.RECORD_SAMPLE);
        ring.number(ring.head() + 8, 5);
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
        return consumer.consume(
                (_, segment, offset, size) -> seen.add(PerfRingMemory.text(segment, offset, size)), () -> false);
    }

    private void write(String text) {
        ring.sample(ring.head(), text);
        advance(PerfRingMemory.space(text));
    }

    private void writeLost(long count) {
        advance(ring.lost(ring.head(), count));
    }

    private void advance(int bytes) {
        assertThat(ring.head() + bytes - ring.tail())
                .as("the kernel waits for room")
                .isLessThanOrEqualTo(PerfRingMemory.SIZE);
        ring.moveHead(ring.head() + bytes);
    }
}
