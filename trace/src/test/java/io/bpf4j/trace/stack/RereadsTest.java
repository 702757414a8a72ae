package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RereadsTest {
    @Test
    void inVainIsTriedLessAndLessOften() {
        Rereads rereads = new Rereads();
        int tries = 0;
        for (int i = 0; i < 100_000; i++) {
            if (rereads.isDue()) {
                tries++;
                rereads.record(false);
            }
        }
        assertThat(tries).isBetween(90, 110);
        while (!rereads.isDue()) {
            tries++;
        }
        rereads.record(true);
        assertThat(rereads.isDue()).isTrue();
    }
}
