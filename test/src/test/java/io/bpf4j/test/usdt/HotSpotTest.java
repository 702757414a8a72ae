package io.bpf4j.test.usdt;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.HOTSPOT_PROBES;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.ChildJvm;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import io.bpf4j.test.support.Strategy;
import io.bpf4j.test.support.TraceRecord;
import io.bpf4j.usdt.AttachOptions;
import io.bpf4j.usdt.AttachStrategy;
import io.bpf4j.usdt.Usdt;
import io.bpf4j.usdt.UsdtLink;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** HotSpot's own probes, in a JVM that runs: collections, classes with their names, threads with theirs. */
@Requires({BPF, HOTSPOT_PROBES})
@ExtendWith(LeakCheck.class)
class HotSpotTest {
    private static final int STRING_MAX = 128;

    private static final List<String> PROBES = List.of("gc__begin", "gc__end", "class__loaded", "thread__start");

    private record Event(String probe, TraceRecord record) {}

    @Test
    void collectionsClassesAndThreadsOfARunningJvm() throws IOException {
        try (ChildJvm jvm = ChildJvm.start();
                BpfObject object = Strategy.MULTI
                        .loader("trace.bpf.o")
                        .global("string_mode", new byte[] {2})
                        .global("string_length_arg", new byte[] {1})
                        .global("string_max", STRING_MAX)
                        .load()) {
            List<UsdtProbe> probes = new ArrayList<>();
            for (String name : PROBES) {
                probes.addAll(UsdtScan.ofProcess(jvm.pid())
                        .matching("hotspot:" + name)
                        .probes());
            }
            AttachOptions options =
                    AttachOptions.defaults().withPid(jvm.pid()).withCookies(probe -> PROBES.indexOf(probe.name()));
            try (UsdtLink link = Usdt.of(object).attach(object.program("trace"), probes, options);
                    RingBuffer ring = RingBuffer.open(object.map("events"))) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
                jvm.command("gc");
                jvm.command("load io.bpf4j.test.support.ChildJvmMain$LoadedOnCommand");
                jvm.command("thread traced-by-bpf4j");

                List<Event> events = Bpf.recordsNow(ring).stream()
                        .map(record -> TraceRecord.of(record, List.of(0), STRING_MAX))
                        .map(record -> new Event(PROBES.get((int) record.cookie()), record))
                        .toList();
                assertThat(names(events)).contains("gc__begin", "gc__end", "class__loaded", "thread__start");
                assertThat(names(events).indexOf("gc__begin"))
                        .isLessThan(names(events).indexOf("gc__end"));
                assertThat(texts(events, "class__loaded"))
                        .contains("io/bpf4j/test/support/ChildJvmMain$LoadedOnCommand");
                assertThat(texts(events, "thread__start")).contains("traced-by-bpf4j");
                assertThat(events).allSatisfy(event -> {
                    assertThat(event.record().pid()).isEqualTo(jvm.pid());
                    assertThat(event.record().errorBits()).isZero();
                });
                assertThat(object.global("lost").getLong()).isZero();
            }
        }
    }

    @Test
    void allProbesOfTheJvmByOneLink() throws IOException {
        try (ChildJvm jvm = ChildJvm.start();
                BpfObject object =
                        Strategy.MULTI.loader("counters.bpf.o", jvm.pid()).load()) {
            List<UsdtProbe> probes =
                    UsdtScan.ofProcess(jvm.pid()).matching("hotspot*:*").probes();
            // How many there are, and that they are those of readelf, is UsdtDiscoveryTest's.
            assertThat(probes).hasSizeGreaterThan(500);
            try (UsdtLink link = Usdt.of(object)
                    .attach(
                            object.program("count"),
                            probes,
                            AttachOptions.defaults().withPid(jvm.pid()))) {
                assertThat(link.strategy()).isEqualTo(AttachStrategy.MULTI);
                assertThat(link.probes()).isEqualTo(probes);
                assertThat(link.siteCount()).isGreaterThan(probes.size());
                assertThat(link.problems()).isEmpty();
                jvm.command("gc");
                assertThat(Bpf.u64(object, "total")).isPositive();
                assertThat(Bpf.u64(object, "no_spec")).isZero();
            }
            assertThat(Usdt.of(object).specIdsInUse()).isZero();
            long total = Bpf.u64(object, "total");
            jvm.command("gc");
            assertThat(Bpf.u64(object, "total")).isEqualTo(total);
        }
    }

    private static List<String> names(List<Event> events) {
        return events.stream().map(Event::probe).toList();
    }

    private static List<String> texts(List<Event> events, String probe) {
        return events.stream()
                .filter(event -> event.probe().equals(probe))
                .map(event -> event.record().text(0))
                .toList();
    }
}
