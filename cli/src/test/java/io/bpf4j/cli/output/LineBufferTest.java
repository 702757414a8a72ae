package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LineBufferTest {
    /** Around each power of ten and of two, and anywhere. */
    private static LongStream numbers() {
        LongStream.Builder numbers = LongStream.builder();
        for (long ten = 1; ten > 0 && ten <= 1_000_000_000_000_000_000L; ten *= 10) {
            for (long n = ten - 1; n <= ten + 1; n++) {
                numbers.add(n).add(-n);
            }
        }
        for (int bit = 0; bit < 64; bit++) {
            for (long n = (1L << bit) - 1; n != (1L << bit) + 2; n++) {
                numbers.add(n).add(-n);
            }
        }
        return LongStream.concat(numbers.build(), new Random(1).longs(10_000));
    }

    @Test
    void numbersAreThoseOfJava() {
        numbers().forEach(n -> {
            assertThat(new LineBuffer().decimal(n)).hasToString(Long.toString(n));
            assertThat(new LineBuffer().unsigned(n)).hasToString(Long.toUnsignedString(n));
            assertThat(new LineBuffer().hex(n)).hasToString("0x" + Long.toHexString(n));
        });
    }

    @Test
    void fixedNumbersHaveZerosInFront() {
        assertThat(new LineBuffer().fixed(0, 3).fixed(42, 6).fixed(999_999_999, 9))
                .hasToString("000000042999999999");
    }

    @Test
    void bytesThatNeedEscapesAreNotAppended() {
        for (int b = 0; b < 256; b++) {
            LineBuffer line = new LineBuffer().append("x");
            String text = Character.toString(b);
            boolean plain = b < 0x80
                    && Text.escape(text).equals(text)
                    && Text.jsonEscape(text).equals(text);
            MemorySegment memory = MemorySegment.ofArray(new byte[] {'a', 'b', (byte) b, 'c'});
            assertThat(line.appendPlain(memory, 1, 3)).isEqualTo(plain);
            assertThat(line).hasToString(plain ? "xb" + (char) b + "c" : "x");
        }
        assertThat(new LineBuffer().appendPlain(MemorySegment.NULL, 0, 0)).isTrue();
    }

    @Test
    void growsAsItMust() {
        String text = "größe ".repeat(10_000);
        LineBuffer line = new LineBuffer().append(text).decimal(1).append(text.getBytes(StandardCharsets.UTF_8));
        assertThat(line).hasToString(text + "1" + text);
        assertThat(line.toBytes()).hasSize(line.size());
    }
}
