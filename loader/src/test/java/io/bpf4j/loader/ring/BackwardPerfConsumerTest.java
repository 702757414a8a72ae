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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reading end against a producer that writes backward and overwrites, as the kernel does. */
class BackwardPerfConsumerTest {
    private static final int SIZE = 512;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment positions = arena.allocate(4096, 8);
    private final MemorySegment data = arena.allocate(SIZE, 8);
    private final List<String> seen = new ArrayList<>();
    private int pauses = 1;
    private final BackwardPerfConsumer consumer = new BackwardPerfConsumer(
            3, (cpu, count) -> seen.add("lost " + count + " on " + cpu), positions, data, () -> pauses);

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void recordsArePassedOnceAndInTheirOrder() {
        write("one");
        write("two");
        assertThat(consumer.pending()).isEqualTo(32);
        assertThat(consume()).isEqualTo(2);
        assertThat(consume()).isZero();
        write("three");
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("one", "two", "three");
        assertThat(consumer.records).isEqualTo(3);
        assertThat(consumer.bytes).isEqualTo(4 + 4 + 12);
        assertThat(consumer.pending()).isZero();
    }

    @Test
    void theNewestAreLeftHoweverManyThereWere() {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        for (int round = 0; round < 300; round++) {
            List<String> written = new ArrayList<>();
            int space = 0;
            int whole = 0;
            for (int i = random.nextInt(40); i >= 0; i--) {
                written.addFirst(round + "-" + i + "x".repeat(random.nextInt(100)));
                write(written.getFirst());
            }
            while (whole < written.size() && space + space(written.get(whole)) <= SIZE) {
                space += space(written.get(whole++));
            }
            seen.clear();
            assertThat(consume()).isEqualTo(whole);
            assertThat(seen).isEqualTo(written.subList(0, whole).reversed());
        }
    }

    @Test
    void aLossIsToldBeforeTheRecordAfterIt() {
        write("before");
        write("after");
        // The kernel reserves both at once: the lower is the one about the loss.
        long head = head() - 24;
        header(head, 24, PerfConsumer.RECORD_LOST);
        data.set(ValueLayout.JAVA_LONG, Math.floorMod(head + 16, SIZE), 5);
        positions.set(ValueLayout.JAVA_LONG, PerfConsumer.HEAD, head);
        assertThat(consume()).isEqualTo(2);
        assertThat(seen).containsExactly("before", "lost 5 on 3", "after");
        assertThat(consumer.lost).isEqualTo(5);
    }

    @Test
    void aPassThatEndsEarlyGoesOnLater() {
        write("one");
        write("two");
        write("three");
        assertThat(consumer.consume(
                        (_, segment, offset, size) -> seen.add(text(segment, offset, size)), () -> seen.size() == 1))
                .isEqualTo(1);
        assertThatThrownBy(() -> consumer.consume(
                        (_, _, _, _) -> {
                            throw new IllegalStateException("thrown by the handler");
                        },
                        () -> false))
                .hasMessage("thrown by the handler");
        assertThat(consume()).isEqualTo(1);
        assertThat(seen).containsExactly("one", "three");
        assertThat(consumer.records).isEqualTo(3);
    }

    @Test
    void itIsReadOnlyWhileItIsPaused() {
        write("one");
        pauses++;
        assertThatThrownBy(this::consume)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("pause()");
        pauses++;
        assertThat(consume()).isEqualTo(1);
    }

    /** Also if it is paused again before the look. */
    @Test
    void aRingThatIsResumedWhileItIsReadIsAnError() {
        write("one");
        write("two");
        assertThatThrownBy(() -> consumer.consume((_, _, _, _) -> pauses += 2, () -> false))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("resumed while it was read");
    }

    /** A program that was writing when the ring was paused overwrites the oldest records, whose header may be torn. */
    @Test
    void aBrokenOldRecordEndsTheList() {
        write("oldest");
        long torn = head();
        write("older");
        write("new");
        header(torn, 7, PerfConsumer.RECORD_SAMPLE);
        assertThat(consume()).isEqualTo(2);
        assertThat(seen).containsExactly("older", "new");
    }

    @Test
    void aBrokenRecordIsAnErrorAndNoEndlessLoop() {
        for (int length : new int[] {0, 7, 12}) {
            long head = head() - 16;
            header(head, length, PerfConsumer.RECORD_SAMPLE);
            positions.set(ValueLayout.JAVA_LONG, PerfConsumer.HEAD, head);
            assertThatThrownBy(this::consume)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("malformed record of " + length + " bytes in the perf buffer of CPU 3");
            assertThat(consumer.pending()).isZero();
        }
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

    private static int space(String text) {
        return 8 + (text.length() + 4 + 7) / 8 * 8;
    }

    private void write(String text) {
        byte[] bytes = text.getBytes(US_ASCII);
        long head = head() - space(text);
        int raw = space(text) - 12;
        header(head, space(text), PerfConsumer.RECORD_SAMPLE);
        data.set(ValueLayout.JAVA_INT, Math.floorMod(head + 8, SIZE), raw);
        for (int i = 0; i < raw; i++) {
            data.set(ValueLayout.JAVA_BYTE, Math.floorMod(head + 12 + i, SIZE), i < bytes.length ? bytes[i] : 0);
        }
        positions.set(ValueLayout.JAVA_LONG, PerfConsumer.HEAD, head);
    }

    private void header(long head, int length, int type) {
        data.set(ValueLayout.JAVA_INT, Math.floorMod(head, SIZE), type);
        data.set(ValueLayout.JAVA_SHORT, Math.floorMod(head + 4, SIZE), (short) 0);
        data.set(ValueLayout.JAVA_SHORT, Math.floorMod(head + 6, SIZE), (short) length);
    }
}
