package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.map.ArenaMap;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Memory that programs and this process share at the same addresses. */
@Requires({Requirement.BPF, Requirement.ARENA})
@ExtendWith(LeakCheck.class)
class ArenaOnKernelTest {
    private static final int NODE = 16;
    private static final long FAR = 1L << 32;
    private static final Support PRESENT = new Support.Present("for this test");

    @Test
    void aListOfPointersIsReadHereAndChangedHere() {
        try (BpfObject object = Bpf.load("arena.bpf.o")) {
            ArenaMap arena = ArenaMap.of(object.map("shared"));
            run(object, "make_list");

            List<Long> values = new ArrayList<>();
            MemorySegment first = arena.at(head(object), NODE);
            for (long at = head(object); at != 0; ) {
                MemorySegment node = arena.at(at, NODE);
                values.add(node.get(ValueLayout.JAVA_LONG, 8));
                at = node.get(ValueLayout.JAVA_LONG, 0);
            }
            assertThat(values).containsExactly(81L, 64L, 49L, 36L, 25L, 16L, 9L, 4L, 1L, 0L);

            first.set(ValueLayout.JAVA_LONG, 8, 1000);
            run(object, "sum_list");
            assertThat(Bpf.u64(object, "sum")).isEqualTo(1000 + 204);
        }
    }

    @Test
    void variablesInTheArenaHaveTheirValuesFromTheStart() {
        try (BpfObject object = Bpf.load("arena.bpf.o", loader -> loader.global("limit", 3))) {
            assertThat(Bpf.u64(object, "limit")).isEqualTo(3);
            run(object, "make_list");
            run(object, "sum_list");
            assertThat(Bpf.u64(object, "sum")).isEqualTo(1 + 4);
        }
        try (BpfObject object = Bpf.load("arena.bpf.o")) {
            object.global("limit").setLong(2);
            run(object, "make_list");
            run(object, "sum_list");
            assertThat(Bpf.u64(object, "sum")).isEqualTo(1);
        }
    }

    /** As from Linux 7.0 on. An older kernel takes the offset, too, because the arena is smaller than 512 MiB. */
    @Test
    void variablesMayBeInItsLastPage() {
        Features running = Features.ofRunningKernel();
        Features newer =
                Features.of(feature -> feature == Feature.LARGE_MAP_OFFSET ? PRESENT : running.support(feature));
        try (BpfObject object =
                Bpf.load("arena.bpf.o", loader -> loader.features(newer).global("limit", 3))) {
            MemorySegment arena = ArenaMap.of(object.map("shared")).memory();
            long lastPage = arena.byteSize() - 4096;
            assertThat(arena.asSlice(lastPage).mismatch(MemorySegment.ofArray(new byte[4096])))
                    .as("the limit is there")
                    .isNotNegative();
            run(object, "make_list");
            run(object, "sum_list");
            assertThat(Bpf.u64(object, "sum")).isEqualTo(1 + 4);
            assertThat(Bpf.u64(object, "limit")).isEqualTo(3);
            object.global("limit").setLong(1);
            assertThat(IntStream.range(0, 4096 / 8)
                            .mapToLong(i -> arena.getAtIndex(ValueLayout.JAVA_LONG, lastPage / 8 + i)))
                    .contains(1L, head(object));
        }
    }

    @Test
    void itsAddressMayBeChosen() throws IOException {
        long address = freeAddress();
        try (BpfObject object =
                Bpf.load("arena.bpf.o", loader -> loader.map("shared", map -> map.withExtra(address)))) {
            assertThat(ArenaMap.of(object.map("shared")).memory().address()).isEqualTo(address);
            run(object, "make_list");
            assertThat(head(object)).isBetween(address, address + 16 * 4096);
        }
    }

    /** A multiple of 4 GiB with as much behind it that this process has not mapped, far from where the kernel maps. */
    private static long freeAddress() throws IOException {
        List<long[]> mapped = Files.readAllLines(Path.of("/proc/self/maps")).stream()
                .map(line -> line.substring(0, line.indexOf(' ')).split("-", 2))
                .map(range -> new long[] {Long.parseUnsignedLong(range[0], 16), Long.parseUnsignedLong(range[1], 16)})
                .toList();
        return LongStream.iterate(0x1000_0000_0000L, address -> address + FAR)
                .filter(address -> mapped.stream().allMatch(range -> range[1] <= address || address + FAR <= range[0]))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void whatIsNoPointerIntoItIsRefused() {
        try (BpfObject object = Bpf.load("arena.bpf.o")) {
            ArenaMap arena = ArenaMap.of(object.map("shared"));
            long size = arena.memory().byteSize();
            assertThat(size).isEqualTo(16 * 4096);
            long start = arena.memory().address();
            assertThat(arena.at(start, size).address()).isEqualTo(start);
            assertThatThrownBy(() -> arena.at(0, 8))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessage("null pointer in arena \"shared\"");
            assertThatThrownBy(() -> arena.at(start - 8, 8)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> arena.at(start + size - 4, 8)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> arena.at(start + (1L << 32), 8))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("is not in arena \"shared\"");
            assertThatThrownBy(() -> ArenaMap.of(object.map(".bss")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("map \".bss\" is not an arena");
        }
    }

    @Test
    void onePageTooFewForItsVariables() {
        assertThatThrownBy(() -> Bpf.load("arena.bpf.o", loader -> loader.map("shared", map -> map.withMaxEntries(0))))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"shared\"");
    }

    private static long head(BpfObject object) {
        return Bpf.u64(object, "head");
    }

    private static void run(BpfObject object, String program) {
        assertThat(object.program(program).test(TestRun.once()).returned())
                .as(program)
                .isZero();
    }
}
