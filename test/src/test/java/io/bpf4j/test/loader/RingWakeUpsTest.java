package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.ring.RecordHandler;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Bursts of records, from one to more than the ring holds, with each way of waking the reader. Its polls have no
 * timeout to speak of, so a wake-up that is missed leaves records unread, and the test waits for them for ever.
 */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(900)
class RingWakeUpsTest {
    private static final int BURSTS = 400;

    /** A record of 64 bytes and its header. */
    private static final int SPACE = 72;

    private static final Duration LONG = Duration.ofHours(1);

    /** How the program wakes, and how many bytes may wait after it has. */
    enum Pattern {
        KERNEL_DECIDES(1, 0, 0),
        FORCED_FOR_EACH(1, 1, 0),
        FORCED_FOR_64(64, 0, 63 * SPACE),
        FORCED_AT_4_KIB(1, 4 << 10, (4 << 10) - 1),
        FORCED_AT_64_KIB(1, 64 << 10, (64 << 10) - 1),
        FORCED_AT_256_KIB(1, 256 << 10, (256 << 10) - 1),
        NEVER(1, 1 << 30, Long.MAX_VALUE);

        final int batch;
        final int wakeAt;
        final long mayWait;

        Pattern(int batch, int wakeAt, long mayWait) {
            this.batch = batch;
            this.wakeAt = wakeAt;
            this.mayWait = mayWait;
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyRecordThatIsNotRefusedArrivesOnceAndInOrder(Pattern pattern) throws Exception {
        Random random = new Random(Long.getLong("bpf4j.test.seed", 1));
        try (BpfObject object = BpfLoader.of(ObjectSpec.parse("records.bpf.o", TestObjects.bytes("records.bpf.o")))
                        .global("batch", pattern.batch)
                        .global("wake_at", pattern.wakeAt)
                        .load();
                RingBuffer ring = RingBuffer.open(object.map("ring"))) {
            AtomicLong read = new AtomicLong();
            long[] last = {-1};
            RecordHandler handler = (_, data, offset, size) -> {
                long number = data.get(ValueLayout.JAVA_LONG, offset + 8);
                // An assertion for each of some million records would take most of the test's time.
                if (number <= last[0]) {
                    throw new AssertionError("record " + number + " after " + last[0]);
                }
                last[0] = number;
                read.lazySet(read.get() + 1);
            };
            CompletableFuture<Void> reader = new CompletableFuture<>();
            CompletableFuture<Void> end = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    while (!end.isDone()) {
                        ring.poll(LONG, handler);
                    }
                    reader.complete(null);
                } catch (Throwable e) {
                    reader.completeExceptionally(e);
                }
            });
            long fired = 0;
            for (int burst = 0; burst < BURSTS; burst++) {
                int records = burst % 8 == 0 ? 20_000 : 1 + random.nextInt(burst % 2 == 0 ? 3 : 500);
                object.program("to_ring").test(TestRun.onData(new byte[64]).withRepeat(records));
                fired += records;
                long written = fired - lost(object);
                if (pattern == Pattern.NEVER) {
                    ring.wakeup();
                }
                Await.until(
                        "at most " + pattern.mayWait + " bytes that wait",
                        () -> reader.isDone() || (written - read.get()) * SPACE <= pattern.mayWait);
                if (reader.isDone()) {
                    reader.get();
                }
            }
            end.complete(null);
            ring.wakeup();
            thread.join();
            reader.get();
            ring.consume(handler);
            assertThat(read.get()).isEqualTo(fired - lost(object));
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    private static long lost(BpfObject object) {
        return MemorySegment.ofArray(object.global("counts").bytes()).get(ValueLayout.JAVA_LONG_UNALIGNED, 8);
    }
}
