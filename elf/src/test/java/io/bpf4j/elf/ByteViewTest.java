package io.bpf4j.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ByteViewTest {
    private static final byte[] BYTES = {
        (byte) 0x80, (byte) 0x81, (byte) 0x82, (byte) 0x83, (byte) 0x84, (byte) 0x85, (byte) 0x86, (byte) 0x87, 'a', 0
    };

    private final ByteView little = ByteView.of("test", BYTES, ByteOrder.LITTLE_ENDIAN);
    private final ByteView big = ByteView.of("test", BYTES, ByteOrder.BIG_ENDIAN);

    @Test
    void numbersOfBothOrders() {
        assertThat(little.u8(0)).isEqualTo(0x80);
        assertThat(little.s8(0)).isEqualTo(-128);
        assertThat(little.u16(1)).isEqualTo(0x8281);
        assertThat(big.u16(1)).isEqualTo(0x8182);
        assertThat(little.s16(0)).isEqualTo((short) 0x8180);
        assertThat(big.s16(0)).isEqualTo((short) 0x8081);
        assertThat(little.u32(0)).isEqualTo(0x83828180L);
        assertThat(big.u32(0)).isEqualTo(0x80818283L);
        assertThat(little.s32(0)).isEqualTo(0x83828180);
        assertThat(big.s32(0)).isEqualTo(0x80818283);
        assertThat(little.s64(0)).isEqualTo(0x8786858483828180L);
        assertThat(big.s64(0)).isEqualTo(0x8081828384858687L);
        assertThat(little.withOrder(ByteOrder.BIG_ENDIAN).s64(0)).isEqualTo(0x8081828384858687L);
        assertThat(little.withOrder(ByteOrder.LITTLE_ENDIAN)).isSameAs(little);
    }

    @ParameterizedTest
    @CsvSource({"-1", "3", "10", "9223372036854775807", "-9223372036854775808", "9223372036854775800"})
    void readingOutsideIsMalformed(long offset) {
        assertThatThrownBy(() -> little.s64(offset)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> little.slice(offset, 8)).isInstanceOf(MalformedDataException.class);
    }

    @ParameterizedTest
    @CsvSource({"0,11", "10,1", "11,0", "1,9223372036854775807", "0,-1", "-1,1", "-1,-1", "5,-9223372036854775808"})
    void slicesOutsideAreMalformed(long offset, long length) {
        assertThatThrownBy(() -> little.slice(offset, length)).isInstanceOf(MalformedDataException.class);
    }

    @Test
    void aSliceKnowsItsPlace() {
        ByteView slice = little.slice(2, 6).slice(1);
        assertThat(slice.base()).isEqualTo(3);
        assertThat(slice.size()).isEqualTo(5);
        assertThat(slice.u8(0)).isEqualTo(0x83);
        assertThat(slice.slice(5).isEmpty()).isTrue();
        MalformedDataException malformed = slice.malformed(2, "no good");
        assertThat(malformed.source()).isEqualTo("test");
        assertThat(malformed.offset()).isEqualTo(5);
        assertThat(malformed).hasMessage("test at 0x5: no good");
        assertThatThrownBy(() -> slice.u32(2))
                .hasMessage("test at 0x5: needs 4 bytes here, but the 5 bytes that start at 0x3 end before that");
    }

    @Test
    void strings() {
        assertThat(little.cString(8)).isEqualTo("a");
        assertThat(little.cString(9)).isEmpty();
        assertThatThrownBy(() -> little.cString(10)).isInstanceOf(MalformedDataException.class);
        assertThatThrownBy(() -> little.slice(0, 9).cString(0))
                .hasMessage("test at 0x0: string without a terminating NUL");
        String text = "ünïcode ".repeat(100);
        ByteView view = ByteView.of("t", (text + "\0").getBytes(StandardCharsets.UTF_8), ByteOrder.BIG_ENDIAN);
        assertThat(view.cString(0)).isEqualTo(text);
        assertThat(view.cString(0, view.size() - 1)).isEqualTo(text);
        assertThatThrownBy(() -> view.cString(0, view.size() - 2))
                .hasMessage("t at 0x0: string of more than 999 bytes");
    }

    @Test
    void bytesAreReadOnlyOrCopies() {
        assertThat(little.toByteArray()).isEqualTo(BYTES).isNotSameAs(BYTES);
    }
}
