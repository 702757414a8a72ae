package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InterruptionTest {
    @Test
    void wakesTheCommandWhetherTheSignalComesBeforeOrAfterItRegisters() {
        AtomicInteger wakes = new AtomicInteger();
        Interruption after = new Interruption();
        after.onRequest(wakes::incrementAndGet);
        assertThat(after.requested()).isFalse();
        after.request();
        assertThat(after.requested()).isTrue();
        assertThat(wakes).hasValue(1);

        Interruption before = new Interruption();
        before.request();
        before.onRequest(wakes::incrementAndGet);
        assertThat(wakes).hasValue(2);
    }

    /** timeout(1) sends a signal to its child, and then one to the group of the child. */
    @Test
    void twoSignalsAtOnceAreOneWish() {
        Interruption interruption = new Interruption();
        long start = System.nanoTime();
        interruption.onSignal(143, start);
        interruption.onSignal(143, start + 1_000_000);
        assertThat(interruption.requested()).isTrue();
        assertThat(interruption.impatient()).isFalse();
        assertThat(interruption.endsAtOnce()).isFalse();
        interruption.beginWait();
        interruption.onSignal(143, start + 100_000_000);
        assertThat(interruption.impatient()).isTrue();
    }

    /** While probes are detached, a second signal ends this wait, and the answer is printed. */
    @Test
    void theSecondSignalEndsTheProcessUnlessItWaits() {
        Interruption interruption = new Interruption();
        interruption.request();
        assertThat(interruption.endsAtOnce()).isFalse();
        interruption.beginWait();
        interruption.request();
        assertThat(interruption.endsAtOnce()).isFalse();
        interruption.endWait();
        assertThat(interruption.endsAtOnce()).as("at the next signal").isTrue();
        interruption.beginWait();
        interruption.request();
        assertThat(interruption.endsAtOnce()).as("the third").isTrue();
    }
}
