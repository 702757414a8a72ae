package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60) // for what hangs
class LookoutTest {
    private final AtomicInteger looks = new AtomicInteger();

    @Test
    void looksByItself() throws InterruptedException {
        CountDownLatch twice = new CountDownLatch(2);
        try (Lookout lookout = new Lookout(twice::countDown)) {
            lookout.start();
            assertThat(twice.await(30, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void looksWhenAsked() {
        try (Lookout lookout = new Lookout(looks::incrementAndGet)) {
            assertThat(lookout.now()).isEmpty();
            assertThat(looks).as("not started").hasValue(0);
            lookout.start();
            lookout.start();
            for (int i = 1; i <= 100; i++) {
                assertThat(lookout.now()).isEmpty();
                assertThat(looks).hasValueGreaterThanOrEqualTo(i);
            }
        }
    }

    @Test
    void looksForTheLastTimeAtTheEnd() {
        try (Lookout lookout = new Lookout(looks::incrementAndGet)) {
            lookout.start();
            lookout.end();
            int all = looks.get();
            assertThat(all).isPositive();
            assertThat(lookout.now()).isEmpty();
            lookout.end();
            assertThat(looks).hasValue(all);
        }
    }

    @Test
    void aLookThatDoesNotEndIsWaitedForOnce() {
        Semaphore answers = new Semaphore(0);
        long patience = TimeUnit.MILLISECONDS.toNanos(50);
        try (Lookout lookout = new Lookout(answers::acquireUninterruptibly, patience, System::nanoTime)) {
            lookout.start();
            assertThat(lookout.now()).contains("there was no answer for 50 ms");
            assertThat(lookout.now()).contains("there was no answer for 50 ms");
            answers.release(1_000);
            // The one that was under way began before this call.
            while (lookout.now().isPresent()) {
                Thread.onSpinWait();
            }
            answers.drainPermits();
            lookout.end();
            assertThat(lookout.now()).as("at the end").contains("there was no answer for 50 ms");
        } finally {
            answers.release(1_000);
        }
    }

    /** Whoever owns what is looked at can make each look slow, and must not hold up all who ask. */
    @Test
    void aSlowLookIsTakenForAWhile() {
        AtomicLong clock = new AtomicLong();
        Runnable slow = () -> clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(200L * looks.incrementAndGet()));
        try (Lookout lookout = new Lookout(slow, TimeUnit.MINUTES.toNanos(10), clock::get)) {
            lookout.start();
            assertThat(lookout.now()).isEmpty();
            int first = looks.get();
            for (int i = 0; i < 100; i++) {
                assertThat(lookout.now()).isEmpty();
            }
            assertThat(looks).as("some may be due").hasValueLessThan(first + 100);
            lookout.end();
            int all = looks.get();
            assertThat(all).as("the last one is made in any case").isGreaterThan(first);
        }
    }

    @Test
    void aLookThatFailsEndsThem() {
        try (Lookout lookout = new Lookout(() -> {
            throw new IllegalStateException("wrong");
        })) {
            lookout.start();
            assertThat(lookout.now()).contains("java.lang.IllegalStateException: wrong");
            assertThat(lookout.now()).contains("java.lang.IllegalStateException: wrong");
        }
    }

    @Test
    void anInterruptedThreadGetsItsLook() {
        try (Lookout lookout = new Lookout(looks::incrementAndGet)) {
            lookout.start();
            Thread.currentThread().interrupt();
            assertThat(lookout.now()).isEmpty();
            assertThat(looks).hasPositiveValue();
            assertThat(Thread.interrupted()).isTrue();
        }
    }
}
