package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.LineBuffer;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.trace.expression.ValueType;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventFormatTest {
    private final LineBuffer lines = new LineBuffer();
    private final EventFormat text = format(false);
    private final EventFormat json = format(true);

    private final TracedProbe probe = new TracedProbe(
            "/lib/x.so",
            "hotspot",
            "class__loaded",
            List.of(
                    ValueType.Int.S64,
                    ValueType.Int.U64,
                    new ValueType.FloatingPoint(4),
                    new ValueType.FloatingPoint(8),
                    ValueType.Int.U64));

    private final TestRecord record = new TestRecord(1_000_000_123L, 7, 8, "ja\u001bva")
            .number(-1)
            .number(-1)
            .number(Float.floatToRawIntBits(0.1f))
            .number(Double.doubleToRawLongBits(-2.5))
            .number(17)
            .text("a\nb\"", true)
            .unreadable();

    private EventFormat format(boolean json) {
        return new EventFormat(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC, json, lines);
    }

    private String line(EventFormat format, TestRecord event, TracedProbe of) {
        lines.clear();
        format.write(event.event(), of);
        String line = lines.toString();
        assertThat(line).endsWith("\n");
        return line.substring(0, line.length() - 1);
    }

    @Test
    void textIsAlignedAndSafeToPrint() {
        assertThat(line(text, record, probe))
                .isEqualTo("03:04:06.000000  7/8              ja\\x1bva         hotspot:class__loaded     "
                        + "arg0=-1 arg1=0xffffffffffffffff arg2=0.1 arg3=-2.5 arg4=17 arg5=\"a\\nb\\\"\"... arg6=?");
    }

    /** As write has them. */
    @Test
    void anEventOfAQuestionHasTheSameColumns() {
        assertThat(line(text, record, probe))
                .startsWith(text.columns(1_000_000_123L, 7, 8, "ja\u001bva", "hotspot:class__loaded") + "arg0=-1 ");
    }

    @Test
    void jsonHasTheSameValuesAsNumbersAndStrings() {
        assertThat(line(json, record, probe))
                .isEqualTo(
                        "{\"type\":\"event\",\"time\":\"2026-01-02T03:04:06.000000123Z\",\"ns\":1000000123,\"pid\":7,\"tid\":8,\"comm\":\"ja\\u001bva\","
                                + "\"probe\":\"hotspot:class__loaded\",\"path\":\"/lib/x.so\",\"provider\":\"hotspot\",\"name\":\"class__loaded\","
                                + "\"args\":[-1,18446744073709551615,0.1,-2.5,17,\"a\\nb\\\"\",null],\"truncated\":[5]}");
    }

    /** A field that is a string in one line must not be a number in the next. */
    @Test
    void textThatCantBeReadIsNullWithItsAddressBeside() {
        TestRecord lost = new TestRecord(0, 1, 1, "sh").number(5).noText(-4096).noText(0);
        assertThat(line(json, lost, probe))
                .endsWith("\"args\":[5,null,null],\"unreadable\":[{\"arg\":1,\"address\":18446744073709547520},"
                        + "{\"arg\":2,\"address\":0}]}");
        assertThat(line(text, lost, probe)).endsWith("arg0=5 arg1=? at 0xfffffffffffff000 arg2=? at 0x0");
    }

    /** An option such as {@code --str 0} is for all probes of a trace, and some have a number there. */
    @Test
    void aNumberThatTheCatalogKnowsIsNoText() {
        TracedProbe known = new TracedProbe(
                "/x",
                "hotspot",
                "gc__begin",
                List.of(ValueType.Int.U64),
                Catalog.builtIn().find("hotspot", "gc__begin"));
        assertThat(line(text, new TestRecord(0, 7, 8, "java").noText(0), known)).endsWith(" full=false");
        assertThat(line(text, new TestRecord(0, 7, 8, "java").noText(1), known)).endsWith(" full=true");
        assertThat(line(json, new TestRecord(0, 7, 8, "java").noText(1), known)).endsWith("\"args\":[1]}");
    }

    @Test
    void aProbeWithoutArgumentsIsAShortLine() {
        TestRecord bare = new TestRecord(0, 1, 1, "sh");
        assertThat(line(text, bare, new TracedProbe("/x", "p", "n", List.of()))).endsWith("p:n");
        assertThat(line(json, bare, new TracedProbe("/x", "p", "n", List.of()))).endsWith("\"args\":[]}");
    }

    @Test
    void theCatalogNamesArguments() {
        TracedProbe known = new TracedProbe(
                "/x",
                "hotspot",
                "class__loaded",
                List.of(ValueType.Int.U64, ValueType.Int.S64, ValueType.Int.U64, ValueType.Int.S64),
                Catalog.builtIn().find("hotspot", "class__loaded"));
        TestRecord loaded = new TestRecord(0, 7, 8, "java")
                .text("A", false)
                .number(1)
                .number(0x10)
                .number(1);

        assertThat(line(text, loaded, known)).endsWith("name=\"A\" loader=0x10 shared=true");
    }

    /** The fraction of a second has 0, 3, 6 or 9 digits in JSON, and 6 in text; time goes back between processors. */
    @Test
    void theTimeFollowsEachEvent() {
        assertThat(List.of(0L, 999_999_999L, 1_000_000_000L, 1_500_000_000L, 1_000_250_000L, 86_400_000_000_001L))
                .extracting(time -> line(json, new TestRecord(time, 1, 1, "sh"), probe)
                        .replaceAll(".*\"time\":\"2026-01-(.*)\",\"ns\".*", "$1"))
                .containsExactly(
                        "02T03:04:05Z",
                        "02T03:04:05.999999999Z",
                        "02T03:04:06Z",
                        "02T03:04:06.500Z",
                        "02T03:04:06.000250Z",
                        "03T03:04:05.000000001Z");
        assertThat(List.of(0L, 1_999_999_999L, 999_999_999L, 86_400_000_001_000L))
                .extracting(time ->
                        line(text, new TestRecord(time, 1, 1, "sh"), probe).substring(0, 15))
                .containsExactly("03:04:05.000000", "03:04:06.999999", "03:04:05.999999", "03:04:05.000001");
    }

    /** More names than the cache has room for, twice. */
    @Test
    void eachThreadHasItsName() {
        for (int i = 0; i < 2000; i++) {
            String name = "worker-" + i % 1000;
            assertThat(line(text, new TestRecord(0, 1, 1, name), probe)).contains(" " + name + " ");
        }
    }

    @Test
    void textOfAnyAlphabetIsShown() {
        TestRecord event = new TestRecord(0, 1, 1, "größe")
                .text("naïve", false)
                .text(new byte[] {'a', (byte) 0xff}, false)
                .text("", false);
        assertThat(line(text, event, probe))
                .contains("größe           ")
                .endsWith("arg0=\"naïve\" arg1=\"a\\xff\" arg2=\"\"");
        assertThat(line(json, event, probe)).contains("\"comm\":\"größe\"", "\"args\":[\"naïve\",\"a\\udcff\",\"\"]");
        assertThat(new String(lines.toBytes(), StandardCharsets.UTF_8)).isEqualTo(lines.toString());
    }
}
