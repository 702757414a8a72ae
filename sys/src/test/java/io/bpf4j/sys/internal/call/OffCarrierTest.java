package io.bpf4j.sys.internal.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class OffCarrierTest {
    private final AtomicReference<Thread> caller = new AtomicReference<>();

    @Test
    void aPlatformThreadMakesTheCallItself() {
        assertThat(OffCarrier.call(this::called)).isEqualTo(42);
        assertThat(caller).hasValue(Thread.currentThread());
    }

    @Test
    void aVirtualThreadHasAPlatformThreadMakeIt() throws InterruptedException {
        AtomicReference<Long> result = new AtomicReference<>();
        Thread.ofVirtual()
                .start(() -> result.set(OffCarrier.call(this::called)))
                .join();
        assertThat(result).hasValue(42L);
        assertThat(caller.get()).isNotNull().satisfies(thread -> {
            assertThat(thread.isVirtual()).isFalse();
            assertThat(thread.isDaemon()).isTrue();
        });
    }

    @Test
    void aFailureReachesTheCaller() throws InterruptedException {
        AtomicReference<Throwable> seen = new AtomicReference<>();
        for (Throwable failure : new Throwable[] {new IllegalStateException("no"), new StackOverflowError("deep")}) {
            Thread.ofVirtual()
                    .start(() -> {
                        try {
                            OffCarrier.call(() -> sneak(failure));
                        } catch (IllegalStateException | StackOverflowError e) {
                            seen.set(e);
                        }
                    })
                    .join();
            assertThat(seen).hasValue(failure);
        }
    }

    /** The memory of the call belongs to the caller, so it must not go on before the call is over. */
    @Test
    void anInterruptDoesNotEndTheCallAndIsKept() throws InterruptedException {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch mayEnd = new CountDownLatch(1);
        AtomicBoolean ended = new AtomicBoolean();
        AtomicBoolean endedFirst = new AtomicBoolean();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread thread = Thread.ofVirtual().start(() -> {
            Thread.currentThread().interrupt();
            OffCarrier.call(() -> {
                inside.countDown();
                awaitUninterruptibly(mayEnd);
                ended.set(true);
                return 0;
            });
            endedFirst.set(ended.get());
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        inside.await();
        thread.interrupt();
        mayEnd.countDown();
        thread.join();
        assertThat(endedFirst).isTrue();
        assertThat(interrupted).isTrue();
    }

    private long called() {
        caller.set(Thread.currentThread());
        return 42;
    }

    private static long sneak(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        throw (RuntimeException) failure;
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
