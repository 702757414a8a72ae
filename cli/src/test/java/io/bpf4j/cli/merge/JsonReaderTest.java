package io.bpf4j.cli.merge;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

import io.bpf4j.cli.output.JsonLine;
import java.math.BigInteger;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonReaderTest {
    private static final String RECORD =
            "{\"type\":\"row\",\"key\":{\"a\\u001b\\n\":-1,\"b\":true},\"x\":[1.5E-3,null,{}],\"y\":\"\\udcff\"}";

    @Property
    void whatIsWrittenIsRead(
            @ForAll @From("texts") String name,
            @ForAll @From("texts") String text,
            @ForAll long number,
            @ForAll double fraction,
            @ForAll boolean flag) {
        String line = new JsonLine()
                .beginObject()
                .key(name)
                .beginArray()
                .value(text)
                .value(number)
                .unsigned(number)
                .value(fraction)
                .value(flag)
                .endArray()
                .endObject()
                .toString();
        Object unsigned = number >= 0 ? (Object) number : new BigInteger(Long.toUnsignedString(number));
        assertThat(JsonReader.object(line)).isEqualTo(Map.of(name, List.of(text, number, unsigned, fraction, flag)));
    }

    /** Also such as have bytes that are not UTF-8, controls, and parts of pairs. */
    @Provide
    Arbitrary<String> texts() {
        return Arbitraries.strings().withCharRange('\0', '\uffff').ofMaxLength(10);
    }

    @Test
    void eachTruncationIsRefused() {
        assertThat(JsonReader.object(RECORD)).hasSize(4).containsEntry("y", "\udcff");
        for (int end = 0; end < RECORD.length(); end++) {
            String cut = RECORD.substring(0, end);
            assertThatExceptionOfType(Refusal.class)
                    .as(cut)
                    .isThrownBy(() -> JsonReader.object(cut))
                    .withMessageContaining("is not JSON: ");
        }
    }

    /** Another character in any place is read, or refused; nothing else happens. */
    @Property
    void otherCharactersAreReadOrRefused(@ForAll int place, @ForAll char other) {
        StringBuilder changed = new StringBuilder(RECORD);
        changed.setCharAt(Math.floorMod(place, RECORD.length()), other);
        assertThatNoException().isThrownBy(() -> {
            try {
                JsonReader.object(changed.toString());
            } catch (Refusal e) {
                assertThat(e).hasMessageMatching("(?s)(is|has) .*");
            }
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "5",
                "[]",
                "{} {}",
                "{}x",
                "{\"a\":01}",
                "{\"a\":+1}",
                "{\"a\":1.}",
                "{\"a\":.5}",
                "{\"a\":1e}",
                "{\"a\":-}",
                "{\"a\":NaN}",
                "{\"a\":'b'}",
                "{\"a\":\"\\x\"}",
                "{\"a\":\"\\u12g4\"}",
                "{\"a\":\"\t\"}",
                "{\"a\":1,}",
                "{a:1}",
                "{\"a\":[1,]}",
                "{\"a\":truth}",
                "/* */{}"
            })
    void whatIsNoObjectOfJsonIsRefused(String line) {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> JsonReader.object(line))
                .withMessageStartingWith("is not JSON: ");
    }

    @Test
    void numbersNeed64BitsAtMost() {
        assertThat(JsonReader.object("{\"a\":18446744073709551615,\"b\":-9223372036854775808}"))
                .isEqualTo(Map.of("a", new BigInteger("18446744073709551615"), "b", Long.MIN_VALUE));
        for (String number :
                List.of("18446744073709551616", "-9223372036854775809", "1e999", "-1E400", "1".repeat(1_000_000))) {
            assertThatExceptionOfType(Refusal.class)
                    .isThrownBy(() -> JsonReader.object("{\"a\":" + number + "}"))
                    .withMessageContaining("which needs more than 64 bits")
                    .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(200));
        }
    }

    @Test
    void depthIsBounded() {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> JsonReader.object("{\"a\":" + "[".repeat(100_000)))
                .withMessage("has more than 16 nested objects and arrays");
    }

    @Test
    void aNameOccursOnceInAnObject() {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> JsonReader.object("{\"count\":1,\"count\":2}"))
                .withMessage("has the field 'count' twice in one object");
    }

    /** What is not UTF-8 in a file is a lone surrogate that is not escaped. */
    @Test
    void bytesThatAreNotUtf8AreRefused() {
        assertThatExceptionOfType(Refusal.class)
                .isThrownBy(() -> JsonReader.object("{\"a\":\"\udc00\"}"))
                .withMessage("is not UTF-8 at column 7");
        assertThat(JsonReader.object("{\"a\":\"\ud83d\ude00\"}")).containsEntry("a", "\ud83d\ude00");
    }
}
