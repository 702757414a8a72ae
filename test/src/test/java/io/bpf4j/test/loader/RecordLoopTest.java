package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.ring.RecordLoop;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(900) // against a hang
class RecordLoopTest {
    record Event(long count, long mark) {}

    private static final Codec<Event> EVENT = Codec.ofRecord(Event.class);

    @Test
    void recordsAreReadUntilTheLoopIsClosed() throws Exception {
        List<Long> counts = new ArrayList<>(); // of the loop's thread; close comes after its end
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 7)) {
            CountDownLatch first = new CountDownLatch(1);
            try (RecordLoop loop = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, event -> {
                counts.add(event.count());
                first.countDown();
            })) {
                assertThat(emitter.emit(1)).isZero();
                first.await();
                assertThat(loop.join(Duration.ofMillis(1))).isFalse();
                assertThat(loop.join(Duration.ofSeconds(Long.MIN_VALUE))).isFalse();
                assertThat(emitter.emit(99)).isZero();
            }
            assertThat(counts).hasSize(100).isSorted();
        }
    }

    @Test
    void theHandlersExceptionEndsTheLoopAndIsPassedOnOnce() throws Exception {
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 7)) {
            RecordLoop loop = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, event -> {
                throw new IllegalArgumentException("record " + event.count());
            });
            try (loop) {
                assertThat(emitter.emit(2)).isZero();
                assertThatThrownBy(loop::join)
                        .isInstanceOf(CompletionException.class)
                        .hasRootCauseMessage("record 0");
                loop.join(); // has ended
            }
            assertThat(loop.reader().isClosed()).isTrue();

            RecordLoop other = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, event -> {
                throw new IllegalArgumentException("record " + event.count());
            });
            assertThatThrownBy(() -> {
                        try (other) {
                            // the record that the first loop has not read
                        }
                    })
                    .isInstanceOf(CompletionException.class)
                    .hasRootCauseMessage("record 1");
            other.close();
        }
    }

    @Test
    void theHandlerMayStopAndCloseTheLoop() throws Exception {
        for (boolean close : new boolean[] {false, true}) {
            CompletableFuture<RecordLoop> own = new CompletableFuture<>();
            AtomicInteger handled = new AtomicInteger();
            try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 7);
                    RecordLoop loop = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, _ -> {
                        handled.incrementAndGet();
                        if (close) {
                            own.join().close();
                        } else {
                            own.join().stop();
                        }
                    })) {
                own.complete(loop);
                assertThat(emitter.emit(1)).isZero();
                loop.join();
                assertThat(handled).hasValue(1);
                assertThat(loop.reader().isClosed()).isEqualTo(close);
            }
        }
    }

    @Test
    void aHandlerThatInterruptsItsThreadEndsTheLoop() throws Exception {
        AtomicInteger handled = new AtomicInteger();
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 7);
                RecordLoop loop = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, _ -> {
                    handled.incrementAndGet();
                    Thread.currentThread().interrupt();
                })) {
            assertThat(emitter.emit(1)).isZero();
            loop.join();
            assertThat(handled).hasValue(1);
        }
    }

    /** A subscriber that takes one event at a time holds the loop back; nothing is lost that fits into the buffer. */
    @Test
    void aPublisherPassesRecordsToASlowSubscriber() throws Exception {
        int all = 300;
        List<Long> counts = new ArrayList<>(); // of the subscriber, which is called by one thread at a time
        CountDownLatch complete = new CountDownLatch(1);
        try (RingEmitter emitter = new RingEmitter("events", 1 << 16, 0, 7);
                SubmissionPublisher<Event> publisher = new SubmissionPublisher<>(
                        task -> Thread.ofPlatform().daemon().start(task), 1)) {
            publisher.subscribe(new Flow.Subscriber<>() {
                private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();

                @Override
                public void onSubscribe(Flow.Subscription given) {
                    subscription.complete(given);
                    given.request(1);
                }

                @Override
                public void onNext(Event event) {
                    counts.add(event.count());
                    subscription.join().request(1);
                }

                @Override
                public void onError(Throwable failure) {}

                @Override
                public void onComplete() {
                    complete.countDown();
                }
            });
            try (RecordLoop _ = RecordLoop.start(RingBuffer.open(emitter.map()), EVENT, publisher::submit)) {
                assertThat(emitter.emit(all)).isZero();
            }
        }
        complete.await();
        assertThat(counts).hasSize(all).isSorted();
    }
}
