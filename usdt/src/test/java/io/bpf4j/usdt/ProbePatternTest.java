package io.bpf4j.usdt;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbePatternTest {

    @ParameterizedTest
    @CsvSource({
        "hotspot:gc__begin, true",
        "hotspot:gc-begin, true",
        "hotspot*:gc__*, true",
        "*:*, true",
        "hotspot1234:::gc-begin, true",
        "hotspot:libjvm.so:collect:gc-begin, true",
        ":::gc-begin, true",
        "hotspot1234:gc-begin, false",
        ":gc__begin, true",
        "hotspot:, true",
        "gc__begin, true",
        "*:?c__b*n, true",
        "hotspot:gc__end, false",
        "hotspo:gc__begin, false",
        "hotspot:gc_, false",
        "hotspot:*x, false",
        "hotspot:gc__begin?, false",
    })
    void matches(String pattern, boolean expected) {
        assertThat(ProbePattern.parse(pattern).matches("hotspot", "gc__begin")).isEqualTo(expected);
    }

    @Test
    void onlyAPatternWithoutWildcardsIsExact() {
        assertThat(ProbePattern.parse("a:b").isExact()).isTrue();
        assertThat(ProbePattern.parse("a:b*").isExact()).isFalse();
        assertThat(ProbePattern.parse("b").isExact()).isFalse();
    }

    @Test
    void aProcessStandsBehindTheProviderOfAFourPartNameOnly() {
        assertThat(ProbePattern.processOf("postgresql1234:::query-start")).hasValue(1234);
        assertThat(ProbePattern.processOf("postgresql1234:postgres:f:query-start"))
                .hasValue(1234);
        assertThat(ProbePattern.processOf("postgresql1234:query-start")).isEmpty();
        assertThat(ProbePattern.processOf("postgresql*:::query-start")).isEmpty();
        assertThat(ProbePattern.processOf("postgresql12345678901:::query-start"))
                .isEmpty();
        assertThat(ProbePattern.processOf("1234:::query-start")).isEmpty();
    }

    @Test
    void hostilePatternsTakeBoundedTime() {
        ProbePattern pattern = ProbePattern.parse("*:" + "a*".repeat(2_000) + "b");
        Assertions.assertTimeoutPreemptively(
                Duration.ofSeconds(5),
                () -> assertThat(pattern.matches("p", "a".repeat(4_000))).isFalse());
    }
}
