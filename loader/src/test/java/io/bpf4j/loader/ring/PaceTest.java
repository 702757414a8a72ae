package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
    private final Pace pace = new Pace(1 << 20);
    private long now;

    @Test
    void fewRecordsAreHandledAtOnce() {
        for (int i = 0; i < 10; i++) {
            pass(Pace.MIN_LOAD - 1, 1000, Pace.MAX_PAUSE);
            assertThat(pace.pause()).isZero();
        }
    }

    @Test
    void pausesGrowWhileTheLoadLasts() {
        pass(1, 72, 1000 * Pace.MAX_PAUSE);
        long pause = Pace.FIRST_PAUSE;
        for (int i = 0; i < 10; i++) {
            pass(Pace.MIN_LOAD, 1000, Pace.MAX_PAUSE);
            assertThat(pace.pause()).isEqualTo(pause);
            pause = Math.min(2 * pause, Pace.MAX_PAUSE);
        }
        pass(Pace.MIN_LOAD - 1, 1000, Pace.MAX_PAUSE);
        assertThat(pace.pause()).isZero();
    }

    /** As they come from a thread that had no processor for some milliseconds. */
    @Test
    void aBurstDelaysNothingForLong() {
        pass(1, 72, 1000 * Pace.MAX_PAUSE);
        long paused = 0;
        for (int i = 0; i < 10; i++) {
            pass(20, 20 * 72, Pace.MAX_PAUSE / 50 + pace.pause());
            paused += pace.pause();
        }
        assertThat(paused).isPositive();
        for (int i = 0; i < 100; i++) {
            pass(1, 72, Pace.MAX_PAUSE / 50 + pace.pause());
            paused = pace.pause();
        }
        assertThat(paused).isZero();
    }

    @Test
    void aBreakEndsTheLoad() {
        load();
        pass(1, 72, 100 * Pace.MAX_PAUSE);
        assertThat(pace.pause()).isZero();
    }

    /** An eighth of the ring in half a millisecond. */
    @Test
    void theRingHasRoomForWhatComesMeanwhile() {
        for (int i = 0; i < 5; i++) {
            pass(1000, 1 << 18, Pace.MAX_PAUSE);
        }
        assertThat(pace.pause()).isEqualTo(Pace.MAX_PAUSE / 2);
    }

    @Test
    void aForcedWakeUpMeansToReadEarlyForSomeTime() {
        load();
        assertThat(pace.isEarly(now)).isFalse();
        pace.forced(now);
        assertThat(pace.isEarly(now + Pace.EARLY - 1)).isTrue();
        assertThat(pace.isEarly(now + Pace.EARLY)).isFalse();
    }

    @Test
    void withoutLoadNothingIsEarly() {
        pace.forced(now);
        assertThat(pace.isEarly(now)).isFalse();
    }

    private void load() {
        for (int i = 0; i < 5; i++) {
            pass(Pace.MIN_LOAD, 1000, Pace.MAX_PAUSE);
        }
    }

    private void pass(int records, long bytes, long later) {
        now += later;
        pace.passed(records, bytes, now);
    }
}
