package io.bpf4j.elf.internal.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CStringTest {
    /** An n stands for NUL. */
    @ParameterizedTest
    @CsvSource({"abn, ab", "abncn, ab", "ab, ab", "n, ''", "'', ''", "nab, ''", "äbnc, äb"})
    void aTextEndsBeforeTheFirstNulOrWhereItsBytesEnd(String stored, String text) {
        byte[] bytes = stored.replace('n', '\0').getBytes(StandardCharsets.UTF_8);
        byte[] expected = text.getBytes(StandardCharsets.UTF_8);
        assertThat(CString.of(bytes)).isEqualTo(text);
        assertThat(CString.of(MemorySegment.ofArray(bytes))).isEqualTo(text);
        assertThat(CString.bytes(MemorySegment.ofArray(bytes))).isEqualTo(expected);
        assertThat(CString.end(bytes, 0, bytes.length)).isEqualTo(expected.length);
    }

    @ParameterizedTest
    @CsvSource({"0, 3, 2", "0, 2, 2", "0, 1, 1", "2, 3, 2", "3, 5, 5", "6, 5, 6"})
    void theEndIsLookedForInARange(int from, int limit, int end) {
        assertThat(CString.end(new byte[] {'a', 'b', 0, 'c', 'd', 0}, from, limit))
                .isEqualTo(end);
    }

    /** @param units of the text, in UTF-16 */
    @ParameterizedTest
    @CsvSource({"61ff62, 0061dcff0062", "c3, dcc3", "e282, dce2dc82", "c3bcff, 00fcdcff", "efbfbd, fffd", "80, dc80"})
    void differentBytesMakeDifferentTexts(String bytes, String units) {
        byte[] stored = HexFormat.of().parseHex(bytes);
        String text = CString.exact(stored, 0, stored.length);
        assertThat(text.chars().mapToObj("%04x"::formatted).collect(Collectors.joining()))
                .isEqualTo(units);
        assertThat(CString.of(stored)).isEqualTo(text);
        assertThat(CString.encode(text)).isEqualTo(stored);
    }

    @Test
    void halfOfAPairIsNoByte() {
        assertThat(CString.encode("a\ud83db\udc7f\ud83d\ude00"))
                .isEqualTo("a?b?\ud83d\ude00".getBytes(StandardCharsets.UTF_8));
    }

    /** As in a log of the verifier, which quotes what an object says of itself. */
    @Test
    void whatIsNoUtf8KeepsItsBytes() {
        assertThat(latin("; gr\u00c3\u00bc\u00c3\u009fe\n")).isEqualTo("; gr\u00fc\u00dfe\n");
        assertThat(latin("; \u00fc\u00ff\u0080 = 1\nR0 !read_ok\n"))
                .isEqualTo("; \udcfc\udcff\udc80 = 1\nR0 !read_ok\n");
        assertThat(latin("cut in half \u00c3")).isEqualTo("cut in half \udcc3");
        assertThat(latin("x".repeat(1 << 20) + "\n")).hasSize((1 << 20) + 1);
    }

    private static String latin(String bytes) {
        return CString.of(MemorySegment.ofArray(bytes.getBytes(StandardCharsets.ISO_8859_1)));
    }
}
