package io.bpf4j.trace.stack;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class NamesTest {
    private final Names names = new Names();

    @Test
    void symbolsAreDemangledAndOthersStay() {
        assertThat(names.of("_ZN3foo3barEi")).isEqualTo("foo::bar");
        assertThat(names.of("main")).isEqualTo("main");
    }

    @Test
    void longNamesAreCut() {
        assertThat(names.of("x".repeat(1024))).hasSize(1024).doesNotContain("…");
        assertThat(names.of("x".repeat(1025))).isEqualTo("x".repeat(1023) + "…");
        assertThat(names.of("_Z4000" + "x".repeat(4000) + "v")).isEqualTo("x".repeat(1023) + "…");
        assertThat(Names.cut("\ud83d\ude00".repeat(3), 4)).isEqualTo("\ud83d\ude00…");
    }

    /** A file of another owner may have any number of symbols of 64 KiB, and each has another name. */
    @Test
    void whatIsKeptIsBoundedByItsLength() {
        for (int i = 10_000; i < 11_000; i++) {
            assertThat(names.of("_Z10005" + i + "x".repeat(10_000) + "v")).hasSize(1024);
        }
        assertThat(names.size()).isLessThan(400);
        for (int i = 10_000; i < 20_000; i++) {
            names.of("_Z6x" + i + "v");
        }
        assertThat(names.size()).as("usual names").isGreaterThan(10_000);
    }
}
