package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StringArgTest {
    @Test
    void readsBothForms() {
        assertThat(StringArg.parse("0")).isEqualTo(new StringArg(0, StringArg.ZERO_TERMINATED));
        assertThat(StringArg.parse("11")).isEqualTo(new StringArg(11, StringArg.ZERO_TERMINATED));
        assertThat(StringArg.parse("0:1")).isEqualTo(new StringArg(0, 1));
        assertThat(StringArg.parse("2:11")).isEqualTo(new StringArg(2, 11));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "x", "-1", "12", "0:12", "0:", ":1", "0:1:2", "1:1", "0x1", " 1", "99999999999999999999"})
    void refusesTheRest(String text) {
        assertThatThrownBy(() -> StringArg.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("null");
    }
}
