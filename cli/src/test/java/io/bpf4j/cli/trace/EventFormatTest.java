package io.bpf4j.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.trace.TraceEvent.Num;
import io.bpf4j.cli.trace.TraceEvent.Str;
import io.bpf4j.cli.trace.TraceEvent.Unreadable;
import io.bpf4j.trace.catalog.Catalog;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventFormatTest {
    private final EventFormat format = new EventFormat(Instant.parse("2026-01-02T03:04:05Z"), ZoneOffset.UTC);

    private final TracedProbe probe = new TracedProbe(
            "/lib/x.so",
            "hotspot",
            "class__loaded",
            List.of(NumberKind.SIGNED, NumberKind.UNSIGNED, NumberKind.FLOAT, NumberKind.DOUBLE, NumberKind.UNSIGNED));

    private final TraceEvent event = new TraceEvent(
            1_000_000_123L,
            0,
            7,
            8,
            "ja\u001bva",
            List.of(
                    new Num(-1),
                    new Num(-1),
                    new Num(Float.floatToRawIntBits(0.1f)),
                    new Num(Double.doubleToRawLongBits(-2.5)),
                    new Num(17),
                    new Str("a\nb\"", true),
                    new Unreadable()));

    @Test
    void textIsAlignedAndSafeToPrint() {
        assertThat(format.human(event, probe))
                .isEqualTo("03:04:06.000000  7/8              ja\\x1bva         hotspot:class__loaded     "
                        + "arg0=-1 arg1=0xffffffffffffffff arg2=0.1 arg3=-2.5 arg4=17 arg5=\"a\\nb\\\"\"... arg6=?");
    }

    @Test
    void jsonHasTheSameValuesAsNumbersAndStrings() {
        assertThat(format.json(event, probe))
                .isEqualTo(
                        "{\"type\":\"event\",\"time\":\"2026-01-02T03:04:06.000000123Z\",\"ns\":1000000123,\"pid\":7,\"tid\":8,\"comm\":\"ja\\u001bva\","
                                + "\"path\":\"/lib/x.so\",\"provider\":\"hotspot\",\"name\":\"class__loaded\","
                                + "\"args\":[-1,18446744073709551615,0.1,-2.5,17,\"a\\nb\\\"\",null],\"truncated\":[5]}");
    }

    /** A field that is a string in one line must not be a number in the next. */
    @Test
    void textThatCantBeReadIsNullWithItsAddressBeside() {
        TraceEvent lost = new TraceEvent(
                0, 0, 1, 1, "sh", List.of(new Num(5), new TraceEvent.NoText(-4096), new TraceEvent.NoText(0)));
        assertThat(format.json(lost, probe))
                .endsWith("\"args\":[5,null,null],\"unreadable\":[{\"arg\":1,\"address\":18446744073709547520},"
                        + "{\"arg\":2,\"address\":0}]}");
        assertThat(format.human(lost, probe)).endsWith("arg0=5 arg1=? at 0xfffffffffffff000 arg2=? at 0x0");
    }

    @Test
    void aProbeWithoutArgumentsIsAShortLine() {
        TraceEvent bare = new TraceEvent(0, 0, 1, 1, "sh", List.of());
        assertThat(format.human(bare, new TracedProbe("/x", "p", "n", List.of())))
                .endsWith("p:n");
        assertThat(format.json(bare, new TracedProbe("/x", "p", "n", List.of())))
                .endsWith("\"args\":[]}");
    }

    @Test
    void theCatalogNamesArguments() {
        TracedProbe known = new TracedProbe(
                "/x",
                "hotspot",
                "class__loaded",
                List.of(NumberKind.UNSIGNED, NumberKind.SIGNED, NumberKind.UNSIGNED, NumberKind.SIGNED),
                Catalog.builtIn().find("hotspot", "class__loaded"));
        List<TraceEvent.Value> values = List.of(
                new TraceEvent.Str("A", false), new TraceEvent.Num(1), new TraceEvent.Num(0x10), new TraceEvent.Num(1));

        assertThat(format.human(new TraceEvent(0, 1, 7, 8, "java", values), known))
                .endsWith("name=\"A\" loader=0x10 shared=true");
    }
}
