package io.bpf4j.loader.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What opens and closes; that records arrive is shown on the real kernel. */
class PerfBufferTest {

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final KernelMap map = KernelMap.create(
            kernel.host(), MapCommand.Create.of(MapType.PERF_EVENT_ARRAY.number(), "events", 4, 4, 8), "events");

    @AfterEach
    void close() {
        map.close();
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
    }

    @Test
    void eachCpuThatIsOnlineGetsARing() {
        PerfBuffer perf =
                PerfBuffer.open(map, PerfBuffer.Options.defaults().withPages(2).withWakeupEvery(5));
        assertThat(perf.cpus()).isEqualTo(3);
        assertThat(kernel.commands(PerfCommand.Open.class))
                .extracting(PerfCommand.Open::cpu)
                .containsExactly(0, 2, 3);
        assertThat(kernel.commands(PerfCommand.Open.class)).allSatisfy(open -> {
            assertThat(open.type()).isEqualTo(PerfCommand.TYPE_SOFTWARE);
            assertThat(open.config()).isEqualTo(PerfCommand.SOFTWARE_BPF_OUTPUT);
            assertThat(open.sampleType()).isEqualTo(PerfCommand.SAMPLE_RAW);
            assertThat(open.samplePeriod()).isEqualTo(1);
            assertThat(open.ring()).isEqualTo(new PerfCommand.Open.Ring(5, false, false));
            assertThat(open.pid()).isEqualTo(-1);
        });
        assertThat(kernel.commands(FileCommand.Map.class)).allSatisfy(mapped -> {
            assertThat(mapped.size()).isEqualTo(3 * 4096);
            assertThat(mapped.writable()).isTrue();
        });
        assertThat(kernel.commands(PerfCommand.Enable.class)).hasSize(3);
        assertThat(kernel.elements(map.fd())).hasSize(3);
        perf.close();
        perf.close();
        assertThat(kernel.elements(map.fd())).isEmpty();
        assertThat(kernel.open()).containsExactly("map \"events\"");
        assertThat(perf.isClosed()).isTrue();
        assertThatThrownBy(() -> perf.consume(_ -> {}))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the perf buffer is closed");
    }

    @Test
    void itMayOutliveItsMap() {
        KernelMap other = KernelMap.create(
                kernel.host(), MapCommand.Create.of(MapType.PERF_EVENT_ARRAY.number(), "other", 4, 4, 8), "other");
        PerfBuffer perf = PerfBuffer.open(other, PerfBuffer.Options.defaults());
        other.close();
        assertThat(perf.poll(Duration.ofMillis(2), _ -> {})).isZero();
        perf.close();
    }

    @Test
    void cpusThatAreNotThereAreLeftOut(@TempDir Path folder) {
        kernel.failNth(2, PerfCommand.Open.class, Errno.ENODEV);
        try (PerfBuffer perf = PerfBuffer.open(map, PerfBuffer.Options.defaults())) {
            assertThat(perf.cpus()).isEqualTo(2);
        }
        ScriptedHost.write(folder, "sys/devices/system/cpu/online", "0,7-12");
        try (KernelMap small = KernelMap.create(
                        ScriptedHost.of(kernel, folder),
                        MapCommand.Create.of(MapType.PERF_EVENT_ARRAY.number(), "small", 4, 4, 8),
                        "small");
                PerfBuffer perf = PerfBuffer.open(small)) {
            assertThat(perf.cpus()).as("the map has 8 slots").isEqualTo(2);
        }
    }

    @Test
    void whateverFailsNothingStaysOpen() {
        int failures = 0;
        for (int step = 1; ; step++) {
            int[] left = {step};
            kernel.clearCommands();
            kernel.fail(
                    command -> !(command instanceof FileCommand.Close)
                            && !(command instanceof FileCommand.Unmap)
                            && !(command instanceof FileCommand.Write)
                            && !(command instanceof MapCommand.Element element && element.op() == MapCommand.Op.DELETE)
                            && --left[0] == 0,
                    Errno.ENOMEM);
            try (PerfBuffer perf = PerfBuffer.open(map, PerfBuffer.Options.defaults())) {
                assertThat(perf.cpus()).isEqualTo(3);
                break;
            } catch (SyscallException e) {
                failures++;
                assertThat(kernel.open()).as("step %d", step).containsExactly("map \"events\"");
                assertThat(kernel.mappings()).isZero();
                assertThat(kernel.elements(map.fd())).isEmpty();
            }
        }
        assertThat(failures).as("3 for waiting, 5 for each CPU").isEqualTo(18);
    }

    /** The element of a map that was frozen meanwhile can't be deleted. */
    @Test
    void whereClosingFailsTheRestIsGivenBack() {
        PerfBuffer perf = PerfBuffer.open(map, PerfBuffer.Options.defaults());
        kernel.fail(
                command -> command instanceof MapCommand.Element element && element.op() == MapCommand.Op.DELETE,
                Errno.EPERM);
        assertThatThrownBy(perf::close)
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EPERM")
                .satisfies(
                        e -> assertThat(e.getSuppressed()).as("of three CPUs").hasSize(2));
        assertThat(kernel.open()).containsExactly("map \"events\"");
        assertThat(kernel.mappings()).isZero();
        perf.close();
    }

    /** What undoing meets does not hide why it was undone. */
    @Test
    void whereUndoingFailsTheFirstFailureIsReported() {
        kernel.fail(
                command -> command instanceof MapCommand.Element element && element.op() == MapCommand.Op.DELETE,
                Errno.EPERM);
        kernel.failNth(3, PerfCommand.Enable.class, Errno.ENOSPC);
        assertThatThrownBy(() -> PerfBuffer.open(map, PerfBuffer.Options.defaults()))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("ENOSPC")
                .satisfies(e -> assertThat(e.getSuppressed()).isNotEmpty());
        assertThat(kernel.open()).containsExactly("map \"events\"");
        assertThat(kernel.mappings()).isZero();
    }

    @Test
    void tooMuchLockedMemoryIsExplained() {
        kernel.fail(FileCommand.Map.class, Errno.EPERM);
        assertThatThrownBy(() -> PerfBuffer.open(map, PerfBuffer.Options.defaults()))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("perf_event_mlock_kb")
                .hasMessageContaining("fewer pages");
    }

    @Test
    void onlyPerfEventArraysArePerfBuffers() {
        try (KernelMap hash = KernelMap.create(kernel.host(), MapCommand.Create.of(1, "table", 4, 4, 8), "table")) {
            assertThatThrownBy(() -> PerfBuffer.open(hash))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is not a perf event array");
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 3, -1, Integer.MIN_VALUE})
    void pagesAreAPowerOfTwo(int pages) {
        assertThatThrownBy(() -> PerfBuffer.Options.defaults().withPages(pages))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> PerfBuffer.Options.defaults().withWakeupEvery(0))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
