package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BufferSizeTest {
    @ParameterizedTest
    @CsvSource({"4096,4096", "4097,8192", "4KiB,4096", "5kib,8192", "64K,65536", "3 MiB,4194304", "1GiB,1073741824"})
    void isAPowerOfTwo(String text, int size) {
        assertThat(BufferSize.parse(text)).isEqualTo(size);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "x", "-1", "1.5MiB", "4 parsecs", "0x1000", "9999999999999"})
    void anythingElseIsNoSize(String text) {
        assertThatThrownBy(() -> BufferSize.parse(text))
                .hasMessage("'" + text + "' is not a size such as 64KiB or 16MiB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "4095", "2GiB", "999999999999GiB", "17179869185GiB"})
    void hasBounds(String text) {
        assertThatThrownBy(() -> BufferSize.parse(text))
                .hasMessage("the size of a ring buffer is 4KiB to 1GiB, not " + text);
    }

    @Test
    void theDefaultIsOneItself() {
        assertThat(BufferSize.parse(Integer.toString(BufferSize.DEFAULT))).isEqualTo(BufferSize.DEFAULT);
    }
}
