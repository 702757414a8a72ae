package io.bpf4j.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.trace.event.TracedProbe;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.Machine;
import io.bpf4j.usdt.site.UsdtSite;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoSummaryTest {
    @Test
    void countsEventsAndMeasuresCollections() {
        DemoSummary summary = new DemoSummary(List.of(probe("gc__begin"), probe("gc__end"), probe("thread__start")));
        add(summary, "gc__end", 500_000); // its beginning was before the trace
        add(summary, "gc__begin", 1_000_000);
        add(summary, "gc__end", 3_500_000);
        add(summary, "gc__begin", 10_000_000);
        add(summary, "gc__end", 11_000_000);
        summary.lost(2);
        assertThat(summary.pauses()).isEqualTo("2 collections took 3.5 ms in all, the longest 2.5 ms");
        assertThat(summary.total()).isEqualTo("5 events, 2 lost");
        assertThat(summary.json())
                .containsExactly(
                        "{\"type\":\"row\",\"key\":{\"probe\":\"hotspot:gc__begin\"},\"count\":2}",
                        "{\"type\":\"row\",\"key\":{\"probe\":\"hotspot:gc__end\"},\"count\":3}",
                        "{\"type\":\"row\",\"key\":{\"probe\":\"hotspot:thread__start\"},\"count\":0}",
                        "{\"type\":\"end\",\"events\":5,\"lost\":2,\"exact\":false,\"reason\":\"2 events not shown, because they came too fast\"}");
        summary.unknown(3);
        assertThat(summary.total()).isEqualTo("5 events, 2 lost, 3 of no known probe");
        assertThat(summary.json())
                .last()
                .isEqualTo(
                        "{\"type\":\"end\",\"events\":5,\"lost\":2,\"unknown\":3,\"exact\":false,\"reason\":\"2 events not shown, because they came too fast; 3 events of no known probe\"}");
    }

    private static void add(DemoSummary summary, String name, long timeNs) {
        summary.add(new TracedProbe("/x", "hotspot", name, List.of()), timeNs);
    }

    private static UsdtProbe probe(String name) {
        return UsdtProbe.of(
                UsdtBinary.of(Path.of("/x"), Machine.X86_64, new FileIdentity(1, 2, 3, 4)),
                "hotspot",
                name,
                List.of(UsdtSite.at(1, 1)));
    }
}
