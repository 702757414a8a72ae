package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TextTest {
    private static final long SEED = Long.getLong("bpf4j.test.seed", 20260102);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "java/lang/Object",
                "gr\u00fc\u00df",
                "\u65e5\u672c",
                "\ud83d\ude00",
                "\ud7ff\ue000",
                "\u4eac\ud55c"
            })
    void decodesUtf8(String text) {
        assertThat(Text.decode(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(text);
    }

    /** A replacement character of the text itself stays one. */
    @Test
    void bytesThatAreNotUtf8AreALoneSurrogate() throws IOException {
        assertThat(Text.utf8(new ByteArrayInputStream(HexFormat.of().parseHex("c3a9ff62efbfbdf09f9880")))
                        .readAllAsString())
                .isEqualTo("\u00e9\udc00b\ufffd\ud83d\ude00");
    }

    @ParameterizedTest
    @CsvSource({
        "61c08062, a\\x00b", // U+0000 as two bytes
        "eda0bdedb880, \ud83d\ude00", // a surrogate pair of three bytes each
        "c3a9c080, \u00e9\\x00",
        "f09f9880c080, \ud83d\ude00\\x00" // both encodings in one string
    })
    void decodesModifiedUtf8(String hex, String escaped) {
        assertThat(Text.escape(Text.decode(HexFormat.of().parseHex(hex)))).isEqualTo(escaped);
    }

    @ParameterizedTest
    @CsvSource({
        "61c3, a\\xc3",
        "61e697, a\\xe6\\x97",
        "ff61, \\xffa",
        "eda0, \\xed\\xa0",
        "c0, \\xc0",
        "f4908080, \\xf4\\x90\\x80\\x80",
        "efbfbd, \ufffd",
        "edf4ffffff, \\xed\\xf4\\xff\\xff\\xff",
        "eda080f4, \\xed\\xa0\\x80\\xf4", // half a pair, and a byte that would look like the other half
        "eda080eda080, \\xed\\xa0\\x80\\xed\\xa0\\x80",
        "edb880, \\xed\\xb8\\x80",
        "c1bf, \\xc1\\xbf", // more bytes than the character needs
        "e08080, \\xe0\\x80\\x80",
        "f08080af, \\xf0\\x80\\x80\\xaf"
    })
    void keepsBytesThatAreNeither(String hex, String escaped) {
        assertThat(Text.escape(Text.decode(HexFormat.of().parseHex(hex)))).isEqualTo(escaped);
    }

    /** So that two strings that differ never look the same. */
    @Test
    void textHasTheBytesItWasDecodedFrom() {
        byte[] bytes = new byte[6];
        Random random = new Random(SEED);
        for (int round = 0; round < 500_000; round++) {
            random.nextBytes(bytes);
            for (int i = 0; i < bytes.length; i++) {
                // Bytes of which characters consist, without those of modified UTF-8, which has two forms of a
                // character.
                bytes[i] = (byte) (bytes[i] | (random.nextBoolean() ? 0x80 : 0xc0));
                if (bytes[i] == (byte) 0xc0 || bytes[i] == (byte) 0xed) {
                    bytes[i] = (byte) 0xbf;
                }
            }
            assertThat(bytesOf(Text.decode(bytes))).isEqualTo(bytes);
        }
    }

    private static byte[] bytesOf(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        text.codePoints().forEach(c -> {
            if (c >= 0xdc80 && c <= 0xdcff) {
                bytes.write(c);
            } else {
                bytes.writeBytes(Character.toString(c).getBytes(StandardCharsets.UTF_8));
            }
        });
        return bytes.toByteArray();
    }

    @Test
    void escapesWhatATerminalWouldObey() {
        assertThat(Text.escape("a\u001b[2J\n\r\t\"\\\u009b\u202e\u2028z"))
                .isEqualTo("a\\x1b[2J\\n\\r\\t\\\"\\\\\\x9b\\u{202e}\\u{2028}z");
        assertThat(Text.escape("\ud800")).isEqualTo("\\u{d800}");
        assertThat(Text.escape("gr\u00fc\u00df \ud83d\ude00")).isEqualTo("gr\u00fc\u00df \ud83d\ude00");
    }

    @Test
    void namesKeepTheirQuotesAndLinesStayLines() {
        assertThat(Text.printable("a\"\\ \u001b[2J\n\u00fc\u202e")).isEqualTo("a\"\\ \\x1b[2J\\n\u00fc\\u{202e}");
        assertThat(Text.printable("\ufffe\uffff")).isEqualTo("\\u{fffe}\\u{ffff}");
        assertThat(Text.printable("\udcff\udc7f")).isEqualTo("\\xff\\u{dc7f}");
        assertThat(Text.printableLines("a\u001b\nb\r")).isEqualTo("a\\x1b\nb\\r");
    }
}
