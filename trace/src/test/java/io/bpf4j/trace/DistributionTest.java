package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class DistributionTest {
    @Test
    void theMeanIsThatOfTheSum() {
        assertThat(of(false, 4, -10, -7, 3).mean()).isEqualTo(-2.5);
        assertThat(of(true, 1, -1, -1, -1).mean()).isEqualTo(0x1p64);
        assertThat(of(true, 0, 0, 0, 0).mean()).isNaN();
    }

    /** 131,072 addresses on a stack have a sum of more than 64 bits. */
    @Test
    void aSumThatMayHaveOverflowedHasNoMean() {
        long address = 0x7fff_ffff_f000L;
        assertThat(of(true, 1 << 17, address << 17, address, address).mean()).isEqualTo((double) address);
        assertThat(of(true, 1 << 18, address << 18, address, address).mean()).isNaN();
        assertThat(of(false, 3, Long.MIN_VALUE /* three times that, modulo 2^64 */, Long.MIN_VALUE, Long.MIN_VALUE)
                        .mean())
                .isNaN();
    }

    private static Distribution of(boolean unsigned, long count, long sum, long min, long max) {
        return new Distribution(unsigned, false, count, sum, min, max, List.of());
    }
}
