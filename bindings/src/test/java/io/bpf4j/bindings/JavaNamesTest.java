package io.bpf4j.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JavaNamesTest {
    @ParameterizedTest
    @CsvSource({
        "duration_ns, durationNs, DurationNs",
        "pid, pid, Pid",
        "CONFIG_HZ, configHz, ConfigHz",
        "__u32, u32, U32",
        "alreadyCamel, alreadyCamel, AlreadyCamel",
        "rx_2_tx, rx2Tx, Rx2Tx",
        "_1st, n1st, N1st",
        "__, unnamed, Unnamed",
        "func.counter, funcCounter, FuncCounter",
        "X, x, X"
    })
    void namesOfCInJava(String c, String member, String type) {
        assertThat(JavaNames.member(c)).isEqualTo(member);
        assertThat(JavaNames.type(c)).isEqualTo(type);
    }

    @Test
    void aNameIsGivenOnce() {
        JavaNames names = new JavaNames(Set.of("close", "Builder"));
        assertThat(names.claim("events")).isEqualTo("events");
        assertThat(names.claim("events")).isEqualTo("events2");
        assertThat(names.claim("events")).isEqualTo("events3");
        assertThat(names.claim("close")).isEqualTo("close_");
        assertThat(names.claim("close")).isEqualTo("close2");
        assertThat(names.claim("class")).isEqualTo("class_");
        assertThat(names.claim("true")).isEqualTo("true_");
        assertThat(names.claim("hashCode")).isEqualTo("hashCode_");
    }

    @Test
    void aNameWithANumberIsNotReservedEither() {
        JavaNames names = new JavaNames(Set.of("get2"));
        assertThat(names.claim("get")).isEqualTo("get");
        assertThat(names.claim("get")).isEqualTo("get3");
        assertThat(names.claim("x".repeat(4000))).hasSize(100);
    }

    /** An object with as many takes less than a megabyte. */
    @Test
    @Timeout(10)
    void equalNamesTakeNoLongerThanOthers() {
        JavaNames names = new JavaNames(Set.of());
        for (int i = 0; i < 60_000; i++) {
            names.claim("same");
            names.claimNumbered("union");
        }
        assertThat(names.claim("same")).isEqualTo("same60001");
        assertThat(names.claimNumbered("union")).isEqualTo("union60001");
    }

    @Test
    void aNameOfAnotherKindHasItsKind() {
        JavaNames names = new JavaNames(Set.of("Builder"));
        assertThat(names.claim("Event", "Struct")).isEqualTo("Event");
        assertThat(names.claim("Event", "Union")).isEqualTo("EventUnion");
        assertThat(names.claim("Event", "Union")).isEqualTo("EventUnion2");
        assertThat(names.claim("Builder", "Struct")).isEqualTo("BuilderStruct");
    }

    @Test
    void enumeratorsKeepTheirNames() {
        assertThat(JavaNames.constant("TCP_ESTABLISHED")).isEqualTo("TCP_ESTABLISHED");
        assertThat(JavaNames.constant("_")).isEqualTo("UNNAMED");
        assertThat(JavaNames.constant("a.b")).isEqualTo("a_b");
    }
}
