package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {
    private static final long SECOND = 1_000_000_000;

    private final Pace pace = new Pace(1 << 20);

    @Test
    void fewRecordsAreHandledAtOnce() {
        pace.passed(0, 0, SECOND);
        assertThat(pace.pause()).isZero();
        pace.passed(Pace.MANY - 1, 1 << 20, SECOND + 1);
        assertThat(pace.pause()).isZero();
    }

    @Test
    void manyRecordsAreFollowedByAPause() {
        pace.passed(1, 1, SECOND);
        pace.passed(Pace.MANY, 1, SECOND + Pace.LONGEST);
        assertThat(pace.pause()).isEqualTo(Pace.LONGEST);
        pace.await();
        assertThat(pace.pause()).as("once").isZero();
    }

    @Test
    void recordsThatGatheredSlowlyAreNoLoad() {
        pace.passed(1, 1, SECOND);
        pace.passed(Pace.MANY, 1, SECOND + Pace.LONGEST + 1);
        assertThat(pace.pause()).isZero();
    }

    /** A quarter of the ring in 100 microseconds: an eighth takes 50. */
    @Test
    void theRingHasRoomForWhatComesMeanwhile() {
        pace.passed(1, 1, SECOND);
        pace.passed(1000, 1 << 18, SECOND + 100_000);
        assertThat(pace.pause()).isEqualTo(50_000);
    }
}
