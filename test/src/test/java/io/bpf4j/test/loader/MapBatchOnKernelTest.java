package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.MapCursor;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Command;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.PinnedThread;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many elements at once on every kind of map that has keys, in batches and, as on an older kernel, one by one. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class MapBatchOnKernelTest {
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    private static final int NO_PREALLOC = 1;

    /** A kernel from before Linux 5.6. */
    private static final Kernel WITHOUT_BATCHES = new Kernel() {
        @Override
        @SuppressWarnings("unchecked") // the result is that of the command
        public <R> R execute(Command<R> command) {
            return command instanceof MapCommand.Batch batch
                    ? (R) new MapCommand.BatchResult(Errno.EINVAL.number(), batch.count())
                    : Kernel.of(Host.running()).execute(command);
        }
    };

    @ParameterizedTest
    @EnumSource(
            value = MapType.class,
            names = {"HASH", "LRU_HASH", "ARRAY", "LPM_TRIE"})
    void oneValueForAllCpus(MapType type) {
        assertThat(written(Kernel.of(Host.running()), type)).isEqualTo(written(WITHOUT_BATCHES, type));
    }

    @ParameterizedTest
    @EnumSource(
            value = MapType.class,
            names = {"HASH", "ARRAY", "LPM_TRIE"})
    void aWalkInPartsGoesOnWhereItEnded(MapType type) {
        for (Kernel kernel : List.of(Kernel.of(Host.running()), WITHOUT_BATCHES)) {
            boolean array = type == MapType.ARRAY;
            int entries = 5_000;
            try (KernelMap map = KernelMap.create(
                    Host.running().with(Kernel.class, kernel),
                    MapCommand.Create.of(type.number(), "m", array ? 4 : 8, 8, entries)
                            .withFlags(type == MapType.LPM_TRIE ? NO_PREALLOC : 0),
                    "m")) {
                TypedMap<Long, Long> typed = TypedMap.of(map, array ? narrow() : Codec.ofLong(), Codec.ofLong());
                Map<Long, Long> elements = new HashMap<>();
                for (long i = 0; i < entries; i++) {
                    elements.put(array ? i : i << 32 | 32, 3 * i + 1);
                }
                typed.putAll(elements);
                List<Long> values = new ArrayList<>();
                MapCursor cursor = map.cursor(0);
                int parts = 1;
                while (cursor.next(100, (_, value) -> values.add(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)))) {
                    assertThat(values.size()).as("after %s parts", parts).isLessThanOrEqualTo(parts * 100);
                    parts++;
                }
                assertThat(parts).as("of %s", type).isGreaterThanOrEqualTo(entries / 100);
                assertThat(values).containsExactlyInAnyOrderElementsOf(elements.values());
                assertThat(cursor.next(100, (_, _) -> values.clear())).isFalse();
                assertThat(values).hasSize(entries);

                Map<Long, Long> read = new HashMap<>();
                TypedMap.Cursor<Long, Long> inValues = typed.cursor();
                for (boolean more = true; more; ) {
                    int before = read.size();
                    more = inValues.next(1_000, read::put);
                    assertThat(read.size() - before).isLessThanOrEqualTo(1_000);
                }
                assertThat(read).isEqualTo(elements);
                assertThat(inValues.next(1, (_, _) -> read.clear())).isFalse();
                assertThat(read).hasSize(entries);

                // One element at a time: the buckets of a hash map may have more.
                MapCursor one = map.cursor(0);
                values.clear();
                assertThat(one.next(1, (_, value) -> values.add(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0))))
                        .isTrue();
                assertThat(values).isNotEmpty().hasSizeLessThan(100);

                MapCursor locked = map.cursor(BpfMap.F_LOCK);
                assertThatThrownBy(() -> locked.next(100, (_, _) -> values.clear()))
                        .as("values without a lock")
                        .isInstanceOf(SyscallException.class);
                assertThatThrownBy(() -> map.cursor(0).next(0, (_, _) -> values.clear()))
                        .isInstanceOf(IllegalArgumentException.class);
                assertThat(values).isNotEmpty();
            }
        }
    }

    /** What is in the map after each of the operations. */
    private static List<Map<Long, Long>> written(Kernel kernel, MapType type) {
        boolean array = type == MapType.ARRAY;
        boolean trie = type == MapType.LPM_TRIE;
        int entries = 5_000;
        int used = array ? entries : 3_000;
        List<Map<Long, Long>> states = new ArrayList<>();
        try (PinnedThread _ = onOneCpu();
                KernelMap map = KernelMap.create(
                        Host.running().with(Kernel.class, kernel),
                        MapCommand.Create.of(type.number(), "m", array ? 4 : 8, 8, entries)
                                .withFlags(trie ? NO_PREALLOC : 0),
                        "m")) {
            // A trie's key is the number of bits and the data: all 32.
            Codec<Long> keys = array ? narrow() : Codec.ofLong();
            TypedMap<Long, Long> typed = TypedMap.of(map, keys, Codec.ofLong());
            Map<Long, Long> elements = new HashMap<>();
            for (long i = 0; i < used; i++) {
                elements.put(trie ? i << 32 | 32 : i, 3 * i + 1);
            }
            typed.putAll(elements);
            states.add(new TreeMap<>(typed.toMap()));
            assertThat(states.getLast()).as("%s of %s", type, kernel).isEqualTo(new TreeMap<>(elements));
            if (!array) {
                List<Long> some = new ArrayList<>();
                for (long i = used - 100L; i < used + 100L; i++) {
                    some.add(trie ? i << 32 | 32 : i);
                }
                assertThat(typed.removeAll(some)).as("%s of %s", type, kernel).isEqualTo(100);
                states.add(new TreeMap<>(typed.toMap()));
                Map<Long, Long> drained = new TreeMap<>();
                assertThat(typed.drain(drained::put)).isEqualTo(used - 100);
                states.add(drained);
                assertThat(typed.toMap()).isEmpty();
            }
        }
        return states;
    }

    /**
     * Of an LRU map each CPU that writes keeps up to 128 free elements for itself. A thread that comes to many CPUs
     * would leave none for the last of them, which evicts.
     */
    private static PinnedThread onOneCpu() {
        return PinnedThread.to(PinnedThread.allowed()[0]);
    }

    private static Codec<Long> narrow() {
        return new Codec<>() {
            @Override
            public long size() {
                return Integer.BYTES;
            }

            @Override
            public Long decode(MemorySegment source, long offset) {
                return Integer.toUnsignedLong(source.get(ValueLayout.JAVA_INT_UNALIGNED, offset));
            }

            @Override
            public void encode(Long value, MemorySegment target, long offset) {
                target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value.intValue());
            }
        };
    }

    @ParameterizedTest
    @EnumSource(
            value = MapType.class,
            names = {"PERCPU_HASH", "LRU_PERCPU_HASH", "PERCPU_ARRAY"})
    void aValueForEachCpu(MapType type) {
        for (Kernel kernel : List.of(Kernel.of(Host.running()), WITHOUT_BATCHES)) {
            // Value sizes that are not a multiple of 8 are where a mistake would show.
            try (PinnedThread _ = onOneCpu();
                    KernelMap map = KernelMap.create(
                            Host.running().with(Kernel.class, kernel),
                            MapCommand.Create.of(type.number(), "m", 4, 12, 500),
                            "m")) {
                record Three(int a, int b, int c) {}
                TypedMap<Integer, List<Three>> typed = TypedMap.perCpu(map, Codec.ofInt(), Codec.ofRecord(Three.class));
                Map<Integer, List<Three>> elements = new TreeMap<>();
                for (int i = 0; i < 500; i++) {
                    List<Three> values = new ArrayList<>();
                    for (int cpu = 0; cpu < CpuSet.possible(Host.running()).count(); cpu++) {
                        values.add(new Three(i, cpu, -i));
                    }
                    elements.put(i, values);
                }
                // An LRU map of values per CPU may evict before it is full.
                Map<Integer, List<Three>> some = new TreeMap<>(elements);
                if (type == MapType.LRU_PERCPU_HASH) {
                    some.keySet().removeIf(key -> key >= 100);
                }
                typed.putAll(some);
                Map<Integer, List<Three>> read = new TreeMap<>();
                typed.forEach(read::put);
                assertThat(read).as("%s of %s", type, kernel).isEqualTo(some);
                read.clear();
                TypedMap.Cursor<Integer, List<Three>> cursor = typed.cursor();
                while (cursor.next(50, read::put)) {
                    assertThat(read).isNotEmpty();
                }
                assertThat(read).as("%s of %s", type, kernel).isEqualTo(some);
                if (type != MapType.PERCPU_ARRAY) {
                    read.clear();
                    assertThat(typed.drain(read::put)).isEqualTo(some.size());
                    assertThat(read).isEqualTo(some);
                }
            }
        }
    }

    @Test
    void aBucketWithManyElementsGetsMoreRoom() {
        // Room for 64 KiB is 16 of these values at first: fewer than there are in all, and buckets are few.
        try (KernelMap map = KernelMap.create(
                Host.running(), MapCommand.Create.of(MapType.HASH.number(), "m", 4, 16_384, 200), "m")) {
            TypedMap<Integer, byte[]> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofBytes(16_384));
            for (int i = 0; i < 200; i++) {
                byte[] value = new byte[16_384];
                value[16_383] = (byte) i;
                typed.put(i, value);
            }
            Map<Integer, Byte> last = new HashMap<>();
            typed.forEach((key, value) -> last.put(key, value[16_383]));
            assertThat(last)
                    .hasSize(200)
                    .allSatisfy((key, value) -> assertThat(value).isEqualTo(key.byteValue()));
        }
    }

    @Test
    void elementsThatStayComeOnceThoughOthersComeAndGo() {
        try (KernelMap map =
                KernelMap.create(Host.running(), MapCommand.Create.of(MapType.HASH.number(), "m", 4, 8, 4_000), "m")) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            for (int i = 0; i < 500; i++) {
                typed.put(i, 0L);
            }
            AtomicBoolean stop = new AtomicBoolean();
            CompletableFuture<Void> churn = CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; !stop.get(); i++) {
                            typed.put(10_000 + i % 1000, 0L);
                            typed.remove(10_000 + (i + 500) % 1000);
                        }
                    },
                    THREADS);
            try {
                for (int round = 0; round < 200; round++) {
                    List<Integer> seen = new ArrayList<>();
                    typed.forEach((key, _) -> seen.add(key));
                    assertThat(seen).doesNotHaveDuplicates();
                    assertThat(seen.stream().filter(key -> key < 10_000)).hasSize(500);
                }
            } finally {
                stop.set(true);
                churn.join();
            }
        }
    }

    @Test
    void whatIsDrainedWhileOthersWriteIsCountedOnce() {
        int total = 200_000;
        // Room for all: the reader may get no processor while the writer has one.
        try (KernelMap map =
                KernelMap.create(Host.running(), MapCommand.Create.of(MapType.HASH.number(), "m", 4, 8, total), "m")) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            CompletableFuture<Void> writer = CompletableFuture.runAsync(
                    () -> {
                        for (int i = 0; i < total; i++) {
                            typed.put(i, (long) i);
                        }
                    },
                    THREADS);
            List<Integer> drained = new ArrayList<>();
            while (!writer.isDone()) {
                typed.drain((key, _) -> drained.add(key));
            }
            writer.join();
            typed.drain((key, _) -> drained.add(key));
            assertThat(drained).hasSize(total).doesNotHaveDuplicates();
        }
    }
}
