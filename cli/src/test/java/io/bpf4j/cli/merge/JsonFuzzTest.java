package io.bpf4j.cli.merge;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.test.fuzz.FuzzTarget;
import io.bpf4j.test.fuzz.Limits;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Any line is an object, which is written and read as the same again, or refused. */
class JsonFuzzTest extends FuzzTarget {
    @Override
    protected List<byte[]> seeds() {
        return List.of(
                bytes(
                        "{\"type\":\"row\",\"key\":{\"a\\u001b\\n\":-1,\"b\":true},\"x\":[1.5E-3,null,{}],\"y\":\"\\udcff\"}"),
                bytes("{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":[],\"d\":\"\u00e9\\\"\\\\\\/\"}"),
                bytes("{}"));
    }

    @Override
    protected List<String> words() {
        return List.of(
                "{",
                "}",
                "[",
                "]",
                "\"",
                ":",
                ",",
                "true",
                "false",
                "null",
                "\\u",
                "\\udcff",
                "\\ud83d\\ude00",
                "1e308",
                "-0",
                "0.5",
                "1E+5",
                "\"a\":",
                "18446744073709551615",
                " ",
                "\t");
    }

    @Override
    protected Limits limits() {
        return Limits.USUAL.withMaxLength(300);
    }

    @Override
    protected void read(byte[] input) {
        String line = new String(input, StandardCharsets.UTF_8);
        Map<String, @Nullable Object> object;
        try {
            object = JsonReader.object(line);
        } catch (Refusal e) {
            assertThat(e).hasMessageMatching("(?s)(is|has) .*");
            assertThat(e.getMessage()).hasSizeLessThan(300);
            return;
        }
        JsonLine again = new JsonLine();
        write(again, object);
        assertThat(JsonReader.object(again.toString())).isEqualTo(object);
    }

    private static void write(JsonLine out, @Nullable Object value) {
        switch (value) {
            case null -> out.value((String) null);
            case Map<?, ?> members -> {
                out.beginObject();
                members.forEach((name, member) -> write(out.key((String) name), member));
                out.endObject();
            }
            case List<?> elements -> {
                out.beginArray();
                elements.forEach(element -> write(out, element));
                out.endArray();
            }
            case String text -> out.value(text);
            case Boolean flag -> out.value(flag);
            case Long number -> out.value(number);
            case BigInteger number -> out.unsigned(number.longValue());
            case Double number -> out.value(number);
            default -> throw new AssertionError(value.getClass());
        }
    }

    @Override
    protected List<Growth> growths() {
        return List.of(
                new Growth("fields", count -> {
                    StringBuilder line = new StringBuilder("{");
                    for (int i = 0; i < count; i++) {
                        line.append(i == 0 ? "" : ",")
                                .append("\"")
                                .append(100_000 + i)
                                .append("\":1");
                    }
                    return bytes(line.append("}").toString());
                }),
                new Growth("elements", count -> bytes("{\"a\":[1" + ",1".repeat(count) + "]}")),
                new Growth("escapes", count -> bytes("{\"a\":\"" + "\\n".repeat(count) + "\"}")),
                new Growth("characters", count -> bytes("{\"a\":\"" + "x".repeat(count) + "\"}")),
                new Growth("digits", count -> bytes("{\"a\":" + "1".repeat(count) + "}")),
                new Growth("blanks", count -> bytes("{" + " ".repeat(count) + "}")));
    }
}
