package io.bpf4j.trace.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextArgumentTest {
    @Test
    void readsBothForms() {
        assertThat(TextArgument.parse("0")).isEqualTo(new TextArgument(0, TextArgument.ZERO_TERMINATED));
        assertThat(TextArgument.parse("11")).isEqualTo(new TextArgument(11, TextArgument.ZERO_TERMINATED));
        assertThat(TextArgument.parse("0:1")).isEqualTo(new TextArgument(0, 1));
        assertThat(TextArgument.parse("2:11")).isEqualTo(new TextArgument(2, 11));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "x", "-1", "12", "0:12", "0:", ":1", "0:1:2", "1:1", "0x1", " 1", "99999999999999999999"})
    void refusesTheRest(String text) {
        assertThatThrownBy(() -> TextArgument.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageNotContaining("null");
    }
}
