package io.bpf4j.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class JsonLineTest {
    @Test
    void keepsTheOrderOfTheKeysAndPlacesCommas() {
        JsonLine line = new JsonLine()
                .beginObject()
                .field("z", 1)
                .field("a", true)
                .key("list")
                .beginArray();
        line.beginObject().endObject().value("x").value((String) null).endArray();
        line.key("empty").beginArray().endArray().field("last", "end").endObject();
        assertThat(line).hasToString("{\"z\":1,\"a\":true,\"list\":[{},\"x\",null],\"empty\":[],\"last\":\"end\"}");
    }

    @Test
    void writesWholeNumbersExactly() {
        JsonLine line = new JsonLine().beginArray();
        line.value(Long.MIN_VALUE).unsigned(-1).unsigned(1L << 63).endArray();
        assertThat(line).hasToString("[-9223372036854775808,18446744073709551615,9223372036854775808]");
    }

    @Test
    void writesFloatingPointThatJsonHasNoFormForAsStrings() {
        JsonLine line = new JsonLine().beginArray();
        line.value(1.5)
                .value(Double.NaN)
                .value(Double.NEGATIVE_INFINITY)
                .value(1e300)
                .endArray();
        assertThat(line).hasToString("[1.5,\"NaN\",\"-Infinity\",1.0E300]");
    }

    @Test
    void escapesWhatWouldBreakTheLineOrTheEncoding() {
        assertThat(new JsonLine().value("a\"b\\c\n\r\t\u0000\u001b\u007f"))
                .hasToString("\"a\\\"b\\\\c\\n\\r\\t\\u0000\\u001b\\u007f\"");
        assertThat(new JsonLine().value("\ud83d\ude00 \ud83d \ude00"))
                .as("a pair stays, halves are escaped")
                .hasToString("\"\ud83d\ude00 \\ud83d \\ude00\"");
    }

    /** What drives a terminal or turns the direction of text is escaped here as it is in text. */
    @Test
    void escapesWhatNoOutputMayHave() {
        for (int c = 0; c < 0x20000; c++) {
            String character = new String(Character.toChars(c));
            boolean shown = new JsonLine().value(character).toString().equals("\"" + character + "\"");
            boolean shownInText = Text.escape(character).equals(character);
            assertThat(shown).as("U+%04X", c).isEqualTo(shownInText);
        }
        for (int[] range : new int[][] {{0x7f, 0x9f}, {0x200b, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069}}) {
            for (int c = range[0]; c <= range[1]; c++) {
                assertThat(new JsonLine().value(Character.toString(c))).hasToString(String.format("\"\\u%04x\"", c));
            }
        }
        assertThat(new JsonLine().value("\udb40\udc01")).hasToString("\"\\udb40\\udc01\"");
    }
}
