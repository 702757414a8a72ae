package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BREAKPOINTS;
import static io.bpf4j.test.support.Requirement.HARDWARE_EVENTS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.PerfEvent;
import io.bpf4j.loader.link.PerfEvent.Cache;
import io.bpf4j.loader.link.PerfEvent.CacheUse;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Perf events by their types, where a machine has them, and what is said where it has not. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
class PerfEventsOnKernelTest {
    private static BpfObject load() {
        return Bpf.load("hooks.bpf.o", "on_clock");
    }

    private static PerfEvent inThisThread(PerfEvent event) throws IOException {
        return event.inThread(Integer.parseInt(
                Path.of("/proc/thread-self").toRealPath().getFileName().toString()));
    }

    private static void assertFires(PerfEvent event) throws Exception {
        try (BpfObject object = load();
                Link _ = object.program("on_clock").attach(inThisThread(event))) {
            Await.until("occurrences of " + event, () -> {
                CorpusEvents.ofProcessor();
                return Bpf.u64(object, "clock_hits") >= 3;
            });
        }
    }

    @Test
    @Requires(HARDWARE_EVENTS)
    void cyclesOfTheProcessor() throws Exception {
        assertFires(PerfEvent.every(100_000, PerfEvent.Hardware.CPU_CYCLES));
        assertFires(PerfEvent.perSecond(1000, PerfEvent.Hardware.CPU_CYCLES));
    }

    /** Reads that the first cache serves are what every processor counts that counts any. */
    @Test
    @Requires(HARDWARE_EVENTS)
    void readsOfACache() throws Exception {
        assertFires(PerfEvent.every(100_000, Cache.L1_DATA, CacheUse.READS));
        assertFires(PerfEvent.perSecond(1000, Cache.L1_DATA, CacheUse.READS));
    }

    /** Which events a processor has is not the same on two machines; here each is attached, or named as missing. */
    @Test
    void anEventThatTheMachineLacksIsSaidToBeMissing() throws Exception {
        List<PerfEvent> events = new ArrayList<>();
        Stream.of(PerfEvent.Hardware.values()).forEach(event -> events.add(PerfEvent.every(1_000_000, event)));
        for (Cache cache : Cache.values()) {
            Stream.of(CacheUse.values()).forEach(use -> events.add(PerfEvent.every(1_000_000, cache, use)));
        }
        int attached = 0;
        try (BpfObject object = load()) {
            for (PerfEvent event : events) {
                try (Link link = object.program("on_clock").attach(inThisThread(event))) {
                    assertThat(link.isClosed()).isFalse();
                    attached++;
                } catch (AttachException e) {
                    assertThat(e).hasMessageContaining("perf event " + event.type() + ":" + event.config());
                    assertThat(e.getMessage()).containsAnyOf("no such event", "can't interrupt", "EINVAL");
                }
            }
        }
        assertThat(attached > 0).isEqualTo(HARDWARE_EVENTS.missing().isEmpty());
    }

    @Test
    void aSourceOfEventsThatDoesNotExistIsRefused() {
        try (BpfObject object = load()) {
            assertThatThrownBy(() -> object.program("on_clock")
                            .attach(PerfEvent.every(1, 12_345, 0).onCpu(0)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("perf event 12345:0")
                    .hasMessageContaining("/sys/bus/event_source/devices");
        }
    }

    @Test
    @Requires(BREAKPOINTS)
    void aBreakpointThatNoProcessorHasIsRefused() throws Exception {
        PerfEvent odd = PerfEvent.at(new PerfEvent.Breakpoint(0x1001, 8, PerfEvent.Access.WRITE));
        try (BpfObject object = load()) {
            assertThatThrownBy(() -> object.program("on_clock").attach(inThisThread(odd)))
                    .isInstanceOf(AttachException.class)
                    .hasMessageContaining("WRITE of 8 bytes at 0x1001")
                    .hasMessageContaining("the address a multiple of it");
        }
    }
}
