package io.bpf4j.loader.internal.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.MapCommand.Batch;
import io.bpf4j.sys.internal.call.MapCommand.BatchOp;
import io.bpf4j.sys.internal.call.MapCommand.BatchResult;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many elements at once: the same result in one call, in steps, and one by one. */
class MapBatchTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final List<KernelMap> maps = new ArrayList<>();

    @AfterEach
    void nothingStaysOpen() {
        maps.forEach(KernelMap::close);
        assertThat(kernel.open()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"batches", "EINVAL", "ENOTSUPP", "EOPNOTSUPP"})
    void theSameResultWithAndWithout(String how) {
        if (!how.equals("batches")) {
            kernel.fail(Batch.class, Errno.valueOf(how));
        }
        TypedMap<Integer, Long> map = typed(MapType.HASH, 10_000);
        Map<Integer, Long> elements = numbers(9_000);
        map.putAll(elements);
        assertThat(map.toMap()).isEqualTo(elements);
        assertThat(map.removeAll(List.of(1, 20_000, 2, 30_000, 40_000, 3))).isEqualTo(3);
        assertThat(map.get(2)).isEmpty();
        Map<Integer, Long> drained = new LinkedHashMap<>();
        assertThat(map.drain(drained::put)).isEqualTo(8_997);
        assertThat(drained).hasSize(8_997).containsEntry(8_999, 8_999L * 7);
        assertThat(map.toMap()).isEmpty();
        assertThat(kernel.commands(MapCommand.Element.class).size()).satisfies(calls -> {
            if (how.equals("batches")) {
                assertThat(calls).isEqualTo(1); // the get
            } else {
                assertThat(calls).isGreaterThan(36_000);
            }
        });
    }

    @Test
    void whatTheKernelRefusesIsAskedOnce() {
        kernel.fail(Batch.class, Errno.EINVAL);
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100);
        for (int i = 0; i < 3; i++) {
            map.putAll(numbers(2));
            map.toMap();
            map.removeAll(List.of(1));
            map.drain((_, _) -> {});
        }
        assertThat(kernel.commands(Batch.class))
                .extracting(Batch::op)
                .containsExactly(BatchOp.UPDATE, BatchOp.LOOKUP, BatchOp.DELETE, BatchOp.LOOKUP_AND_DELETE);
    }

    @Test
    void aBucketThatDoesNotFitGetsMoreRoom() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100);
        map.putAll(numbers(100));
        kernel.clearCommands();
        kernel.fail(command -> command instanceof Batch batch && batch.count() < 150, Errno.ENOSPC);
        assertThat(map.toMap()).hasSize(100);
        assertThat(kernel.commands(Batch.class)).extracting(Batch::count).containsExactly(100, 200);
    }

    @Test
    void roomThatNeverSufficesEnds() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100);
        kernel.fail(Batch.class, Errno.ENOSPC);
        assertThatThrownBy(map::toMap).isInstanceOf(SyscallException.class).hasMessageContaining("ENOSPC");
        assertThat(kernel.commands(Batch.class)).hasSizeLessThan(5);
    }

    @Test
    void anElementThatGoesWhileReadDoesNotEndTheWalk() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100);
        map.putAll(numbers(5));
        kernel.failNth(1, Batch.class, Errno.EINTR);
        assertThat(map.toMap()).hasSize(5);
    }

    @Test
    void aWalkThatIsInterruptedForEverFails() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100);
        kernel.fail(Batch.class, Errno.EINTR);
        assertThatThrownBy(map::toMap)
                .isInstanceOf(BpfException.class)
                .hasMessageContaining("iteration over map \"m\"")
                .hasMessageContaining("again and again");
    }

    @Test
    void keysThatComeAgainAreGivenOnceWhereTheKernelMayStartOver() {
        KernelMap trie = create(MapType.LPM_TRIE, 8, 8, 10);
        int[] calls = {0};
        kernel.answer(Batch.class, batch -> {
            // Elements 1, 2; then the last key is gone, and it starts over: 1, 3; the end.
            calls[0]++;
            batch.keys().setAtIndex(ValueLayout.JAVA_LONG, 0, 1);
            batch.keys().setAtIndex(ValueLayout.JAVA_LONG, 1, calls[0] + 1);
            return new BatchResult(calls[0] == 1 ? 0 : Errno.ENOENT.number(), 2);
        });
        List<Long> seen = new ArrayList<>();
        trie.forEach((key, _) -> seen.add(key.get(ValueLayout.JAVA_LONG, 0)));
        assertThat(seen).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aWalkThatStartsOverForEverFails() {
        KernelMap trie = create(MapType.LPM_TRIE, 8, 8, 10);
        kernel.answer(Batch.class, _ -> new BatchResult(0, 2));
        List<Long> seen = new ArrayList<>();
        assertThatThrownBy(() -> trie.forEach((key, _) -> seen.add(key.get(ValueLayout.JAVA_LONG, 0))))
                .isInstanceOf(BpfException.class);
        assertThat(seen).containsExactly(0L);
        assertThat(kernel.commands(Batch.class)).hasSizeLessThan(100);
    }

    @Test
    void anErrorInTheMiddleIsAnErrorAndNoReasonToBeginAnew() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 100_000);
        map.putAll(numbers(90_000));
        kernel.failNth(2, Batch.class, Errno.EINVAL);
        List<Integer> seen = new ArrayList<>();
        assertThatThrownBy(() -> map.forEach((key, _) -> seen.add(key)))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("bpf(BPF_MAP_LOOKUP_BATCH) on map \"m\"");
        assertThat(seen).isNotEmpty().doesNotHaveDuplicates();
    }

    @Test
    void aFullMapSaysSoAndKeepsWhatFits() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 4);
        assertThatThrownBy(() -> map.putAll(numbers(9)))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("bpf(BPF_MAP_UPDATE_BATCH) on map \"m\" failed: E2BIG")
                .hasMessageContaining("full with 4 elements");
        assertThat(map.toMap()).hasSize(4);
    }

    @Test
    void aHandlerThatThrowsEndsIt() {
        TypedMap<Integer, Long> map = typed(MapType.HASH, 10);
        map.putAll(numbers(3));
        assertThatThrownBy(() -> map.forEach((_, _) -> {
                    throw new IllegalStateException("enough");
                }))
                .hasMessage("enough");
        assertThat(map.toMap()).hasSize(3);
    }

    @Test
    void arraysAreReadAndWrittenButNotDrained() {
        TypedMap<Integer, Long> map = typed(MapType.ARRAY, 3);
        map.putAll(Map.of(0, 5L, 2, 7L));
        assertThat(map.toMap()).isEqualTo(Map.of(0, 5L, 1, 0L, 2, 7L));
        assertThatThrownBy(() -> map.drain((_, _) -> {}))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("BPF_MAP_DELETE_ELEM");
    }

    @ParameterizedTest
    @EnumSource(
            value = MapType.class,
            names = {"QUEUE", "STACK"})
    void whatHasNoKeysIsDrainedNoFurtherThanItCanBeFull(MapType type) {
        KernelMap map = create(type, 0, 4, 5);
        kernel.answer(MapCommand.Element.class, element -> {
            assertThat(element.op()).isEqualTo(MapCommand.Op.LOOKUP_AND_DELETE);
            element.value().set(ValueLayout.JAVA_INT, 0, 9); // a program pushes as fast as we pop
            return 0;
        });
        List<Integer> seen = new ArrayList<>();
        assertThat(map.drain((key, value) -> {
                    assertThat(key.byteSize()).isZero();
                    seen.add(value.get(ValueLayout.JAVA_INT_UNALIGNED, 0));
                }))
                .isEqualTo(5);
        assertThat(seen).containsExactly(9, 9, 9, 9, 9);
    }

    @Test
    void perCpuValuesGoInBatchesToo() {
        KernelMap perCpu = create(MapType.PERCPU_HASH, 4, 4, 100);
        TypedMap<Integer, List<Integer>> map = TypedMap.perCpu(perCpu, Codec.ofInt(), Codec.ofInt());
        int cpus = CpuSet.possible(kernel.host()).count();
        Map<Integer, List<Integer>> elements = new LinkedHashMap<>();
        for (int i = 0; i < 50; i++) {
            elements.put(i, Collections.nCopies(cpus, i));
        }
        map.putAll(elements);
        Map<Integer, List<Integer>> read = new LinkedHashMap<>();
        map.forEach(read::put);
        assertThat(read).isEqualTo(elements);
        assertThat(map.get(3)).contains(Collections.nCopies(cpus, 3));
        assertThat(map.get(99)).isEmpty();
        assertThat(map.drain((_, _) -> {})).isEqualTo(50);
    }

    @Test
    void heapMemoryWorksAndSizesAreChecked() {
        KernelMap map = create(MapType.HASH, 4, 8, 100_000);
        int count = 40_000;
        MemorySegment keys = MemorySegment.ofArray(new int[count]);
        MemorySegment values = MemorySegment.ofArray(new long[count]);
        for (int i = 0; i < count; i++) {
            keys.setAtIndex(ValueLayout.JAVA_INT, i, i);
        }
        map.updateAll(keys, values, count);
        assertThat(kernel.commands(Batch.class)).hasSizeGreaterThan(1);
        assertThat(map.deleteAll(keys, count)).isEqualTo(count);
        assertThatThrownBy(() -> map.updateAll(keys, values, count - 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("map \"m\": 39999 keys of 4 bytes each are 159996 bytes, not 160000");
        assertThatThrownBy(() -> map.deleteAll(keys, -1)).isInstanceOf(IllegalArgumentException.class);
        map.updateAll(keys.asSlice(0, 0), values.asSlice(0, 0), 0);
    }

    @Test
    void whatIsHandedOutCantBeWritten() {
        try (Arena arena = Arena.ofConfined()) {
            KernelMap map = create(MapType.HASH, 4, 8, 10);
            map.updateAll(arena.allocate(4, 4), arena.allocate(8, 8), 1);
            map.forEach((key, value) -> {
                assertThat(key.isReadOnly()).isTrue();
                assertThat(value.isReadOnly()).isTrue();
            });
        }
    }

    private static Map<Integer, Long> numbers(int count) {
        Map<Integer, Long> numbers = new LinkedHashMap<>();
        for (int i = 0; i < count; i++) {
            numbers.put(i, i * 7L);
        }
        return numbers;
    }

    private TypedMap<Integer, Long> typed(MapType type, int maxEntries) {
        return TypedMap.of(create(type, 4, 8, maxEntries), Codec.ofInt(), Codec.ofLong());
    }

    private KernelMap create(MapType type, int keySize, int valueSize, int maxEntries) {
        KernelMap map = KernelMap.create(
                kernel.host(), MapCommand.Create.of(type.number(), "m", keySize, valueSize, maxEntries), "m");
        maps.add(map);
        return map;
    }
}
