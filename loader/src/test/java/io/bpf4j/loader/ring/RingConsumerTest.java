package io.bpf4j.loader.ring;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reading end against a producer that writes the memory as the kernel does. */
class RingConsumerTest {
    private static final int SIZE = 256;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment consumerPage = arena.allocate(4096, 8);
    private final MemorySegment producerPage = arena.allocate(4096, 8);
    private final MemorySegment data = arena.allocate(2 * SIZE, 8);
    private final RingConsumer consumer = new RingConsumer(0, consumerPage, producerPage, data);
    private final List<String> seen = new ArrayList<>();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void recordsComeInOrderAndTheirSpaceIsGivenBack() {
        write("one", 0);
        write("three", 0);
        assertThat(consumer.pending()).isEqualTo(32);
        assertThat(consume()).isEqualTo(2);
        assertThat(seen).containsExactly("one", "three");
        assertThat(consumer.pending()).isZero();
        assertThat(consume()).isZero();
        assertThat(consumer.records).isEqualTo(2);
        assertThat(consumer.bytes).isEqualTo(8);
    }

    @Test
    void aRecordOfNoBytesIsARecord() {
        write("", 0);
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("");
        assertThat(consumerPosition()).isEqualTo(8);
    }

    @Test
    void aBusyRecordHoldsUpThoseBehindIt() {
        long busy = write("late", RingConsumer.BUSY);
        write("early", 0);
        assertThat(consume()).isZero();
        assertThat(consumerPosition()).isZero();
        setHeader(busy, 4);
        assertThat(consume()).isEqualTo(2);
        assertThat(seen).containsExactly("late", "early");
    }

    @Test
    void aDiscardedRecordIsSkippedAndCounted() {
        write("gone", RingConsumer.DISCARD);
        write("kept", 0);
        write("gone", RingConsumer.DISCARD);
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("kept");
        assertThat(consumer.discarded).isEqualTo(2);
        assertThat(consumer.pending()).isZero();
    }

    @Test
    void aRecordAcrossTheEndIsWhole() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        List<String> written = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            String text = "x".repeat(random.nextInt(100)) + i;
            written.add(text);
            write(text, 0);
            consume();
        }
        assertThat(seen).isEqualTo(written);
        assertThat(consumerPosition()).isGreaterThan(10L * SIZE);
    }

    @Test
    void aRecordThatTheHandlerThrowsAtCountsAsRead() {
        write("one", 0);
        write("two", 0);
        write("three", 0);
        AtomicInteger calls = new AtomicInteger();
        RecordHandler throwing = (_, _, _, _) -> {
            if (calls.incrementAndGet() == 2) {
                throw new IllegalStateException("thrown by the handler");
            }
        };
        assertThatThrownBy(() -> consumer.consume(throwing, () -> false)).hasMessage("thrown by the handler");
        assertThat(consumerPosition()).isEqualTo(32);
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("three");
        assertThat(consumer.records).isEqualTo(3);
    }

    @Test
    void spaceIsGivenBackDuringALongPass() {
        for (int i = 0; i < 10; i++) {
            write("0123456789abcdef", 0); // 24 bytes each, of 256
        }
        List<Long> positions = new ArrayList<>();
        consumer.consume((_, _, _, _) -> positions.add(consumerPosition()), () -> false);
        assertThat(positions).startsWith(0L, 24L).isSorted();
        assertThat(positions.getLast()).isGreaterThanOrEqualTo(200);
    }

    @Test
    void theLastRecordIsHeldBackUntilItIsReleased() {
        write("", 0);
        write("", RingConsumer.DISCARD);
        assertThat(consumer.consume((_, _, _, _) -> {}, () -> false, true)).isEqualTo(1);
        assertThat(consumerPosition()).as("4 bytes are a sixty-fourth").isEqualTo(16);
        RingConsumer large = new RingConsumer(0, consumerPage, producerPage, arena.allocate(2 << 12, 8));
        producerPage.set(ValueLayout.JAVA_LONG, 0, 32);
        assertThat(large.consume((_, _, _, _) -> {}, () -> false, true)).isEqualTo(2);
        assertThat(consumerPosition()).isEqualTo(24);
        assertThat(large.pending()).as("it has been read").isZero();
        assertThat(large.consume((_, _, _, _) -> {}, () -> false, true)).isZero();
        assertThat(consumerPosition()).isEqualTo(24);
        large.release();
        assertThat(consumerPosition()).isEqualTo(32);
        assertThat(large.consume((_, _, _, _) -> {}, () -> false, true)).isZero();
    }

    @Test
    void stopEndsThePassBetweenRecords() {
        write("one", 0);
        write("two", 0);
        int handled = consumer.consume(
                (_, _, offset, size) -> seen.add(text(data.asSlice(offset, size))), () -> seen.size() == 1);
        assertThat(handled).isEqualTo(1);
        assertThat(consumerPosition()).isEqualTo(16);
    }

    @Test
    void aPassEndsWhereTheProducerWasWhenItBegan() {
        write("one", 0);
        int handled = consumer.consume((_, _, _, _) -> write("another", 0), () -> false);
        assertThat(handled).isEqualTo(1);
        assertThat(consume()).isEqualTo(1);
    }

    @Test
    void theDataCantBeWritten() {
        write("one", 0);
        consumer.consume(
                (_, segment, offset, _) -> assertThatThrownBy(
                                () -> segment.set(ValueLayout.JAVA_BYTE, offset, (byte) 1))
                        .isInstanceOf(IllegalArgumentException.class),
                () -> false);
    }

    private int consume() {
        return consumer.consume(
                (_, segment, offset, size) -> seen.add(text(segment.asSlice(offset, size))), () -> false);
    }

    private static String text(MemorySegment record) {
        return new String(record.toArray(ValueLayout.JAVA_BYTE), US_ASCII);
    }

    private long consumerPosition() {
        return consumerPage.get(ValueLayout.JAVA_LONG, 0);
    }

    /** What bpf_ringbuf_reserve and _submit do; gives the record's place. */
    private long write(String text, int flags) {
        long position = producerPage.get(ValueLayout.JAVA_LONG, 0);
        byte[] bytes = text.getBytes(US_ASCII);
        long end = position + (8L + bytes.length + 7) / 8 * 8;
        assertThat(end - consumerPosition()).as("the producer waits for room").isLessThanOrEqualTo(SIZE);
        long at = position % SIZE;
        for (int i = 0; i < bytes.length; i++) {
            setByte(at + 8 + i, bytes[i]);
        }
        setHeader(at, bytes.length | flags);
        producerPage.set(ValueLayout.JAVA_LONG, 0, end);
        return at;
    }

    private void setHeader(long at, int length) {
        data.set(ValueLayout.JAVA_INT, at, length);
        data.set(ValueLayout.JAVA_INT, at + SIZE, length);
        data.set(ValueLayout.JAVA_INT, at + 4, 2);
    }

    /** The data is mapped twice: what is written in one place stands in the other. */
    private void setByte(long at, byte value) {
        data.set(ValueLayout.JAVA_BYTE, at % SIZE, value);
        data.set(ValueLayout.JAVA_BYTE, at % SIZE + SIZE, value);
    }
}
