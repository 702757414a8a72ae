package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.UserRingBuffer;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Waiter;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Requires({Requirement.BPF, Requirement.USER_RING_BUFFER})
@ExtendWith(LeakCheck.class)
@Timeout(300)
class UserRingBufferOnKernelTest {
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    /** Longer than a test may take: one that misses a wake-up fails. */
    private static final Duration LONG = Duration.ofHours(1);

    record Order(int number, int amount) {}

    private static final Codec<Order> ORDER = Codec.ofRecord(Order.class);

    private static int drain(BpfObject object) {
        Program program = object.program("drain");
        return program.test(TestRun.onData(new byte[14])).returned();
    }

    @Test
    void programsReadWhatIsSubmittedInOrder() {
        try (BpfObject object = Bpf.load("user_ring.bpf.o");
                UserRingBuffer ring = UserRingBuffer.open(object.map("orders"))) {
            assertThat(drain(object)).isZero();
            assertThat(ring.submit(ORDER, new Order(0, 10))).isTrue();
            try (UserRingBuffer.Sample sample = ring.reserve(8).orElseThrow()) {
                sample.data().set(ValueLayout.JAVA_INT, 0, 99); // and taken back
            }
            UserRingBuffer.Sample late = ring.reserve(8).orElseThrow();
            assertThat(ring.submit(ORDER, new Order(2, 1000))).isTrue();
            assertThat(drain(object)).as("up to the one that is not finished").isEqualTo(1);
            late.data().set(ValueLayout.JAVA_INT, 0, 1);
            late.data().set(ValueLayout.JAVA_INT, 4, 100);
            late.submit();
            assertThat(drain(object)).isEqualTo(2);
            assertThat(Bpf.u64(object, "count")).isEqualTo(3);
            assertThat(Bpf.u64(object, "sum")).isEqualTo(1110);
            assertThat(Bpf.u32(object, "wrong")).isZero();
            assertThat(ring.pendingBytes()).isZero();
        }
    }

    @Test
    void manyRoundsOfTheRing() {
        try (BpfObject object = Bpf.load("user_ring.bpf.o");
                UserRingBuffer ring = UserRingBuffer.open(object.map("orders"))) {
            int total = 20_000;
            for (int i = 0; i < total; i++) {
                while (!ring.submit(ORDER, new Order(i, 1))) {
                    assertThat(drain(object)).isEqualTo(4096 / 16);
                }
            }
            drain(object);
            assertThat(Bpf.u64(object, "count")).isEqualTo(total);
            assertThat(Bpf.u64(object, "sum")).isEqualTo(total);
            assertThat(Bpf.u32(object, "wrong")).isZero();
        }
    }

    @Test
    void severalThreadsWriteAtOnce() {
        try (BpfObject object = Bpf.load("user_ring.bpf.o");
                UserRingBuffer ring = UserRingBuffer.open(object.map("orders"))) {
            int each = 5_000;
            CompletableFuture<?>[] writers = new CompletableFuture<?>[3];
            for (int w = 0; w < writers.length; w++) {
                writers[w] = CompletableFuture.runAsync(
                        () -> {
                            for (int i = 0; i < each; i++) {
                                Optional<UserRingBuffer.Sample> sample = ring.reserve(8, LONG);
                                sample.orElseThrow().data().fill((byte) 0);
                                sample.get().data().set(ValueLayout.JAVA_INT, 4, 1);
                                sample.get().submit();
                            }
                        },
                        THREADS);
            }
            CompletableFuture<Void> all = CompletableFuture.allOf(writers);
            while (!all.isDone()) {
                drain(object);
            }
            all.join();
            drain(object);
            assertThat(Bpf.u64(object, "sum")).isEqualTo(3L * each);
        }
    }

    @Test
    void waitingForRoomEndsWhenAProgramReadsAndSleepsUntilThen() throws Exception {
        try (BpfObject object = Bpf.load("user_ring.bpf.o");
                UserRingBuffer ring = UserRingBuffer.open(object.map("orders"))) {
            fill(ring);
            assertThat(ring.reserve(8, Duration.ofMillis(20))).isEmpty();
            Waiter<Optional<UserRingBuffer.Sample>> waiter = Waiter.start(() -> ring.reserve(2000, LONG));
            waiter.awaitAsleep();
            drain(object);
            assertThat(waiter.result().get()).isPresent();
            waiter.result().get().orElseThrow().discard();
        }
    }

    @Test
    void closingEndsTheWait() throws Exception {
        try (BpfObject object = Bpf.load("user_ring.bpf.o")) {
            UserRingBuffer ring = UserRingBuffer.open(object.map("orders"));
            fill(ring);
            Waiter<Optional<UserRingBuffer.Sample>> waiter = Waiter.start(() -> ring.reserve(8, LONG));
            waiter.awaitAsleep();
            ring.close();
            assertThatThrownBy(() -> waiter.result().get())
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is closed");
            assertThat(drain(object)).as("what was submitted stays").isEqualTo(256);
        }
    }

    @Test
    void anInterruptEndsTheWait() throws Exception {
        try (BpfObject object = Bpf.load("user_ring.bpf.o");
                UserRingBuffer ring = UserRingBuffer.open(object.map("orders"))) {
            fill(ring);
            Waiter<String> waiter = Waiter.start(() -> ring.reserve(8, LONG) + ", interrupted " + Thread.interrupted());
            waiter.awaitAsleep();
            waiter.interrupt();
            assertThat(waiter.result().get()).isEqualTo("Optional.empty, interrupted true");
        }
    }

    private static void fill(UserRingBuffer ring) {
        int number = 0;
        while (ring.submit(ORDER, new Order(number, 1))) {
            number++;
        }
        assertThat(number).isEqualTo(256);
    }
}
