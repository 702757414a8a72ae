package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.RecordHandler;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Waiter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(900) // against a hang: all of it takes a second on an idle machine
class RingBufferOnKernelTest {
    /** A thread for each task: the common pool of a machine with two processors has one, which a poll would keep. */
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    /** Longer than a test may take: one that misses a wake-up, or a record that is there, fails. */
    private static final Duration LONG = Duration.ofHours(1);

    record Event(long count, long mark) {}

    @Test
    void recordsArriveOnceAndInOrderWhileTheProducerRuns() throws Exception {
        int wanted = 500_000;
        try (RingEmitter emitter = new RingEmitter("events", 1 << 20, 0, 7);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            CompletableFuture<Void> producer = CompletableFuture.runAsync(
                            () -> {
                                for (int sent = 0; sent < wanted; sent += 1000) {
                                    // Never more than fits, with a record that is held back: what is measured is order,
                                    // not loss.
                                    while (ring.pendingBytes() > (1 << 20) - 1001 * RingEmitter.SPACE) {
                                        Thread.onSpinWait();
                                    }
                                    assertThat(emitter.emit(1000)).isZero();
                                }
                            },
                            THREADS)
                    .whenComplete((_, _) -> ring.wakeup());
            long[] next = {0};
            while (next[0] < wanted) {
                if (producer.isCompletedExceptionally()) {
                    producer.get();
                }
                ring.poll(LONG, Codec.ofRecord(Event.class), event -> {
                    assertThat(event.count()).isEqualTo(next[0]);
                    assertThat(event.mark()).isEqualTo(7);
                    next[0]++;
                });
            }
            producer.get();
            assertThat(ring.stats().records()).isEqualTo(wanted);
            assertThat(ring.stats().bytes()).isEqualTo((long) wanted * RingEmitter.RECORD_SIZE);
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    /** A program that forces a wake-up by {@code bpf_ringbuf_query} must see little more than the bytes not yet read. */
    @Test
    void theLessIsLeftTheSoonerSpaceIsGivenBack() {
        int records = 10_000;
        try (RingEmitter emitter = new RingEmitter("events", 1 << 20, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(records);
            List<Long> tooMuch = new ArrayList<>();
            int read = ring.consume((_, data, offset, _) -> {
                long left = (records - data.get(ValueLayout.JAVA_LONG, offset)) * RingEmitter.SPACE;
                if (ring.pendingBytes() > left + left / 7 + 2 * RingEmitter.SPACE) {
                    tooMuch.add(left);
                }
            });
            assertThat(read).isEqualTo(records);
            assertThat(tooMuch).isEmpty();
        }
    }

    @Test
    void aHandlerStopsItsPoll() {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(100);
            List<Long> read = new ArrayList<>();
            RecordHandler untilTen = (_, data, offset, _) -> {
                read.add(data.get(ValueLayout.JAVA_LONG, offset));
                if (read.size() % 10 == 0) {
                    ring.stop();
                }
            };
            assertThat(ring.poll(LONG, untilTen)).isEqualTo(10);
            assertThat(ring.consume(untilTen)).isEqualTo(10);
            assertThat(ring.consume(7, (_, data, offset, _) -> read.add(data.get(ValueLayout.JAVA_LONG, offset))))
                    .isEqualTo(7);
            assertThat(ring.consume((_, data, offset, _) -> read.add(data.get(ValueLayout.JAVA_LONG, offset))))
                    .isEqualTo(73);
            assertThat(read).hasSize(100).isSorted().doesNotHaveDuplicates();
            assertThat(ring.consume(7, (_, _, _, _) -> {})).isZero();
            assertThatThrownBy(ring::stop).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> ring.consume(0, (_, _, _, _) -> {})).isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Another epoll, as an event loop has it, waits for the descriptor, and is ready once for each batch. */
    @Test
    void otherCodeWaitsForTheDescriptor() {
        Kernel kernel = Kernel.of(Host.running());
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map());
                Descriptor descriptor = ring.descriptor();
                Fd epoll = kernel.execute(new FileCommand.EpollCreate("event loop"));
                Fd own = kernel.execute(new FileCommand.Duplicate(descriptor.number(), "ring"));
                Arena arena = Arena.ofConfined()) {
            MemorySegment events = arena.allocate(EpollEvent.SIZE, 8);
            kernel.execute(new FileCommand.EpollAdd(epoll, own, 0, EpollEvent.READABLE));
            FileCommand.EpollWait now = new FileCommand.EpollWait(epoll, events, 0);
            while (ring.consume((_, _, _, _) -> {}) > 0) {}
            assertThat(kernel.execute(now)).as("nothing was written").isZero();
            for (int batch = 0; batch < 3; batch++) {
                emitter.emit(5);
                assertThat(kernel.execute(new FileCommand.EpollWait(epoll, events, 60_000)))
                        .isEqualTo(1);
                assertThat(ring.consume((_, _, _, _) -> {})).isEqualTo(5);
                assertThat(ring.consume((_, _, _, _) -> {})).isZero();
                assertThat(kernel.execute(now)).as("all was read").isZero();
            }
            ring.wakeup();
            assertThat(kernel.execute(now)).isEqualTo(1);
            ring.consume((_, _, _, _) -> {});
            assertThat(kernel.execute(now)).isZero();
        }
    }

    @Test
    void nothingIsAllocatedForARecord() throws Exception {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        try (RingEmitter emitter = new RingEmitter("events", 1 << 20, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            long[] sum = {0};
            RecordHandler handler = (_, data, offset, _) -> sum[0] += data.get(ValueLayout.JAVA_LONG, offset + 8);
            int perRound = 40_000;
            // Once the JIT compiler has done its work, for which a busy machine takes its time.
            Await.until(
                    perRound + " records for which less than 1000 bytes are allocated",
                    () -> {
                        emitter.emit(perRound);
                        sum[0] = 0;
                        long before = threads.getCurrentThreadAllocatedBytes();
                        int read = ring.consume(handler);
                        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
                        assertThat(read).isEqualTo(perRound);
                        assertThat(sum[0]).isEqualTo(perRound);
                        return allocated;
                    },
                    allocated -> allocated < 1000);
        }
    }

    @Test
    void severalRingsAreReadInOnePoll() {
        try (RingEmitter first = new RingEmitter("first", 1 << 16, 0, 1);
                RingEmitter second = new RingEmitter("second", 1 << 16, 0, 2);
                RingBuffer ring = RingBuffer.open(first.map(), second.map())) {
            first.emit(2);
            second.emit(1);
            List<String> seen = new ArrayList<>();
            int handled = ring.poll(LONG, (source, data, offset, size) -> {
                assertThat(size).isEqualTo(16);
                seen.add(source + ": " + data.get(ValueLayout.JAVA_LONG, offset + 8));
            });
            assertThat(handled).isEqualTo(3);
            assertThat(seen).containsExactly("0: 1", "0: 1", "1: 2");
        }
    }

    @Test
    void aWaitingPollIsWokenByARecordOfEitherRing() throws Exception {
        try (RingEmitter first = new RingEmitter("first", 1 << 16, 0, 1);
                RingEmitter second = new RingEmitter("second", 1 << 16, 0, 2);
                RingBuffer ring = RingBuffer.open(first.map(), second.map())) {
            for (RingEmitter emitter : List.of(second, first, second)) {
                Waiter<Integer> poll = Waiter.start(() -> ring.poll(LONG, RingBufferOnKernelTest::ignore));
                poll.awaitAsleep();
                emitter.emit(1);
                assertThat(poll.result().get()).isEqualTo(1);
            }
        }
    }

    @Test
    void discardedRecordsAreSkipped() {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.discard(3);
            emitter.emit(1);
            emitter.discard(1);
            assertThat(ring.poll(LONG, RingBufferOnKernelTest::ignore)).isEqualTo(1);
            assertThat(ring.stats().discarded()).isEqualTo(4);
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    @Test
    void recordsWithoutAWakeUpAreReadWhenTheTimeIsUp() throws Exception {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, RingEmitter.NO_WAKEUP, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            assertThat(ring.consume(RingBufferOnKernelTest::ignore)).isZero();
            int read = 0;
            // A busy machine may not come to write within the time; then there is more time.
            for (Duration time = Duration.ofMillis(300); read < 5; time = time.multipliedBy(2)) {
                long waits = ring.stats().waits();
                Duration given = time;
                CompletableFuture<Integer> poll =
                        CompletableFuture.supplyAsync(() -> ring.poll(given, RingBufferOnKernelTest::ignore), THREADS);
                Await.until("a poll that waits", () -> ring.stats().waits() > waits);
                emitter.emit(5);
                read = poll.get();
                assertThat(read + ring.consume(RingBufferOnKernelTest::ignore)).isEqualTo(5);
            }
        }
    }

    @Test
    void aFullRingLosesTheNewestAndGoesOnAfterReading() {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            int fit = (1 << 16) / RingEmitter.SPACE;
            assertThat(emitter.emit(fit + 100)).as("-EAGAIN").isEqualTo(-11);
            assertThat(ring.consume(RingBufferOnKernelTest::ignore)).isEqualTo(fit);
            assertThat(emitter.emit(1)).isZero();
            assertThat(ring.consume(RingBufferOnKernelTest::ignore)).isEqualTo(1);
        }
    }

    @Test
    void anExceptionOfTheHandlerComesThroughAndItsRecordCountsAsRead() {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(3);
            List<Long> seen = new ArrayList<>();
            Consumer<MemorySegment> handler = record -> {
                seen.add(record.get(ValueLayout.JAVA_LONG, 0));
                if (seen.size() == 2) {
                    throw new IllegalStateException("thrown by the handler");
                }
            };
            assertThatThrownBy(() -> ring.poll(LONG, handler)).hasMessage("thrown by the handler");
            assertThat(ring.poll(LONG, handler)).isEqualTo(1);
            assertThat(seen).containsExactly(0L, 1L, 2L);
        }
    }

    @Test
    void wakeupEndsAWaitNowOrTheNextOne() throws Exception {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            CompletableFuture<Integer> poll =
                    CompletableFuture.supplyAsync(() -> ring.poll(LONG, RingBufferOnKernelTest::ignore), THREADS);
            ring.wakeup();
            assertThat(poll.get()).isZero();
            ring.wakeup();
            ring.wakeup();
            assertThat(ring.poll(LONG, RingBufferOnKernelTest::ignore)).isZero();
            long start = System.nanoTime();
            assertThat(ring.poll(Duration.ofMillis(60), RingBufferOnKernelTest::ignore))
                    .as("both were one")
                    .isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(60_000_000);
        }
    }

    @Test
    void closeFromAnotherThreadEndsAWaitAndGivesAllBack() throws Exception {
        for (int round = 0; round < 50; round++) {
            try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1)) {
                RingBuffer ring = RingBuffer.open(emitter.map());
                CountDownLatch started = new CountDownLatch(1);
                CompletableFuture<Integer> poll = CompletableFuture.supplyAsync(
                        () -> {
                            started.countDown();
                            return ring.poll(LONG, RingBufferOnKernelTest::ignore);
                        },
                        THREADS);
                started.await();
                ring.close();
                // Closed before it began, or while it waited.
                assertThat(poll.exceptionally(e -> e.getCause() instanceof IllegalStateException ? 0 : -1)
                                .get())
                        .isZero();
                assertThat(ring.isClosed()).isTrue();
            }
        }
    }

    @Test
    void closeWaitsForTheHandlerAtWork() throws Exception {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1)) {
            RingBuffer ring = RingBuffer.open(emitter.map());
            emitter.emit(2);
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch go = new CountDownLatch(1);
            AtomicBoolean readable = new AtomicBoolean();
            CompletableFuture<Integer> poll = CompletableFuture.supplyAsync(
                    () -> ring.poll(LONG, record -> {
                        inside.countDown();
                        readable.set(awaits(go) && record.get(ValueLayout.JAVA_LONG, 8) == 1);
                    }),
                    THREADS);
            inside.await();
            Waiter<Boolean> close = Waiter.start(() -> {
                ring.close();
                return true;
            });
            // It may sleep for something else before it comes to close.
            Await.until("a ring that is being closed", ring::isClosed);
            close.awaitAsleep();
            go.countDown();
            assertThat(close.result().get()).isTrue();
            assertThat(poll.get()).as("the second record is not handed out").isEqualTo(1);
            assertThat(readable).isTrue();
        }
    }

    @Test
    void aHandlerMayCloseItsRing() {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1)) {
            RingBuffer ring = RingBuffer.open(emitter.map());
            emitter.emit(3);
            assertThat(ring.poll(LONG, (MemorySegment _) -> ring.close())).isEqualTo(1);
            assertThatThrownBy(() -> ring.poll(LONG, RingBufferOnKernelTest::ignore))
                    .isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void aSecondConsumerIsRefused() throws Exception {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(1);
            ring.poll(
                    LONG,
                    (MemorySegment _) -> assertThatThrownBy(() -> ring.consume(RingBufferOnKernelTest::ignore))
                            .isInstanceOf(IllegalStateException.class)
                            .hasMessageContaining("can't read its own"));
            CompletableFuture<Integer> poll =
                    CompletableFuture.supplyAsync(() -> ring.poll(LONG, RingBufferOnKernelTest::ignore), THREADS);
            Await.until("a poll that waits", () -> ring.stats().waits() > 0);
            assertThatThrownBy(() -> ring.consume(RingBufferOnKernelTest::ignore))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("single consumer");
            ring.wakeup();
            assertThat(poll.get()).isZero();
        }
    }

    @Test
    void aRecordShorterThanTheCodecSaysSo() {
        record Longer(long a, long b, long c) {}
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
                RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(1);
            assertThatThrownBy(() -> ring.poll(LONG, Codec.ofRecord(Longer.class), _ -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("a record of 16 bytes in ring buffer events, but the codec needs 24");
            assertThat(ring.consume(RingBufferOnKernelTest::ignore)).isZero();
        }
    }

    @Test
    void theRingOutlivesItsMap() {
        RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 1);
        try (RingBuffer ring = RingBuffer.open(emitter.map())) {
            emitter.emit(2);
            emitter.close();
            assertThat(ring.poll(LONG, RingBufferOnKernelTest::ignore)).isEqualTo(2);
        }
    }

    private static boolean awaits(CountDownLatch latch) {
        try {
            return latch.await(15, TimeUnit.MINUTES); // the test is over by then
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The type tells which {@code poll} is meant. */
    private static void ignore(MemorySegment data) {
        assertThat(data).isNotNull();
    }
}
