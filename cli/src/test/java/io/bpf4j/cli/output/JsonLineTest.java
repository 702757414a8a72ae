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
}
