package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Kernel;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An interrupt ends the wait of a poll; {@link VirtualThreadsTest} shows the same of virtual threads. */
@Timeout(300) // against a hang
class InterruptedPollTest {
    private static final Duration FOR_EVER = Duration.ofDays(1);

    private final RingBuffer ring =
            new RingBuffer(List.of(), List.of(), new Waiter(Kernel.of(Host.running()), "ring buffer test"));

    @AfterEach
    void close() {
        ring.close();
    }

    private int poll(Duration timeout) {
        return ring.poll(timeout, (MemorySegment _) -> {});
    }

    @Test
    void aThreadThatWaitsIsInterruptedAgainAndAgain() throws Exception {
        for (int waits = 1; waits <= 3; waits++) {
            CompletableFuture<String> result = new CompletableFuture<>();
            Thread poller = Thread.ofPlatform().daemon().start(() -> {
                int records = poll(FOR_EVER);
                result.complete(records + " records, interrupted " + Thread.interrupted());
            });
            awaitWaits(waits);
            poller.interrupt();
            assertThat(result.get()).isEqualTo("0 records, interrupted true");
            poller.join();
        }
    }

    @Test
    void anInterruptedThreadDoesNotWaitAndOneThatIsNotDoes() throws Exception {
        Thread.currentThread().interrupt();
        assertThat(poll(FOR_EVER)).isZero();
        assertThat(poll(FOR_EVER)).isZero();
        assertThat(Thread.interrupted()).isTrue();
        long waits = ring.stats().waits();
        CompletableFuture<Integer> next = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> next.complete(poll(FOR_EVER)));
        awaitWaits(waits + 1);
        ring.wakeup();
        assertThat(next.get()).isZero();
        assertThat(ring.stats().waits()).isEqualTo(waits + 1);
    }

    @Test
    void aPollThatDoesNotWaitIgnoresInterrupts() {
        Thread.currentThread().interrupt();
        assertThat(poll(Duration.ZERO)).isZero();
        assertThat(Thread.interrupted()).isTrue();
        assertThat(ring.stats().waits()).isZero();
        assertThat(poll(Duration.ofMillis(1)))
                .as("nothing is left of the interrupt")
                .isZero();
    }

    private void awaitWaits(long number) {
        while (ring.stats().waits() < number) {
            Thread.onSpinWait();
        }
    }
}
