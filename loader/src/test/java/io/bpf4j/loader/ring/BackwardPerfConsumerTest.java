package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The reading end against a producer that writes backward and overwrites, as the kernel does. */
class BackwardPerfConsumerTest {
    private final PerfRingMemory ring = new PerfRingMemory();
    private final List<String> seen = new ArrayList<>();
    private int pauses = 1;
    private final BackwardPerfConsumer consumer = new BackwardPerfConsumer(
            3, (cpu, count) -> seen.add("lost " + count + " on " + cpu), ring.positions, ring.data, () -> pauses);

    @AfterEach
    void close() {
        ring.close();
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
            while (whole < written.size() && space + PerfRingMemory.space(written.get(whole)) <= PerfRingMemory.SIZE) {
                space += PerfRingMemory.space(written.get(whole++));
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
        long head = ring.head() - 24;
        ring.lost(head, 5);
        ring.moveHead(head);
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
                        (_, segment, offset, size) -> seen.add(PerfRingMemory.text(segment, offset, size)),
                        () -> seen.size() == 1))
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
        long torn = ring.head();
        write("older");
        write("new");
        ring.header(torn, 7, PerfConsumer.RECORD_SAMPLE);
        assertThat(consume()).isEqualTo(2);
        assertThat(seen).containsExactly("older", "new");
    }

    @Test
    void aBrokenRecordIsAnErrorAndNoEndlessLoop() {
        for (int length : new int[] {0, 7, 12}) {
            long head = ring.head() - 16;
            ring.header(head, length, PerfConsumer.RECORD_SAMPLE);
            ring.moveHead(head);
            assertThatThrownBy(this::consume)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("malformed record of " + length + " bytes in the perf buffer of CPU 3");
            assertThat(consumer.pending()).isZero();
        }
    }

    private int consume() {
        return consumer.consume(
                (_, segment, offset, size) -> seen.add(PerfRingMemory.text(segment, offset, size)), () -> false);
    }

    private void write(String text) {
        long head = ring.head() - PerfRingMemory.space(text);
        ring.sample(head, text);
        ring.moveHead(head);
    }
}
