package io.bpf4j.test.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.map.LoadedGlobal;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.Global;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.Commands;
import io.bpf4j.test.support.Java;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class MapOnKernelTest {
    private static final Kernel KERNEL = Kernel.of(Host.running());
    /** A thread for each task: the common pool of a machine with two processors has one, which a poll would keep. */
    private static final Executor THREADS = task -> Thread.ofPlatform().daemon().start(task);

    private static final int MMAPABLE_ELEMENTS = 10;

    record Stats(int hits, long nanos) {}

    @Test
    void aHashMapSpeaksJava() {
        try (KernelMap map = create(MapType.HASH, 4, 16, 100, 0)) {
            TypedMap<Integer, Stats> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofRecord(Stats.class));
            assertThat(typed.get(1)).isEmpty();
            typed.put(1, new Stats(2, 3));
            assertThat(typed.get(1)).contains(new Stats(2, 3));
            assertThat(typed.put(1, new Stats(0, 0), UpdateMode.NEW_ONLY)).isFalse();
            assertThat(typed.put(2, new Stats(0, 0), UpdateMode.EXISTING_ONLY)).isFalse();
            typed.put(2, new Stats(4, 5));
            assertThat(typed).containsExactlyInAnyOrder(Map.entry(1, new Stats(2, 3)), Map.entry(2, new Stats(4, 5)));
            for (Map.Entry<Integer, Stats> element : typed) {
                assertThat(typed.remove(element.getKey())).isTrue();
            }
            assertThat(typed.stream()).isEmpty();
            assertThat(typed.remove(1)).isFalse();
            assertThat(map.id()).isPositive();
            assertThat(map.type()).contains(MapType.HASH);
        }
    }

    @Test
    void aFullMapSaysHowManyElementsItHas() {
        try (KernelMap map = create(MapType.HASH, 4, 8, 16, 0)) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 10_000; i++) {
                            typed.put(i, 0L);
                        }
                    })
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.E2BIG))
                    .hasMessageContaining("full with 16 elements");
        }
    }

    @Test
    void anArrayHasAllItsElements() {
        try (KernelMap map = create(MapType.ARRAY, 4, 8, 3, 0)) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            typed.put(2, 7L);
            List<String> seen = new ArrayList<>();
            typed.forEach((key, value) -> seen.add(key + "=" + value));
            assertThat(seen).containsExactly("0=0", "1=0", "2=7");
            assertThat(typed.get(3)).isEmpty();
            assertThatThrownBy(() -> typed.remove(0)).isInstanceOf(SyscallException.class);
        }
    }

    @Test
    void perCpuValuesKeepApart() {
        for (MapType type : List.of(MapType.PERCPU_HASH, MapType.PERCPU_ARRAY, MapType.LRU_PERCPU_HASH)) {
            try (KernelMap map = create(type, 4, 4, 64, 0)) {
                TypedMap<Integer, List<Integer>> typed = TypedMap.perCpu(map, Codec.ofInt(), Codec.ofInt());
                List<Integer> values = new ArrayList<>(
                        Collections.nCopies(CpuSet.possible(Host.running()).count(), 0));
                for (int cpu = 0; cpu < values.size(); cpu++) {
                    values.set(cpu, 100 + cpu);
                }
                typed.put(5, values);
                assertThat(typed.get(5)).as(type.name()).contains(values);
            }
        }
    }

    @Test
    void queuesPopInOrder() {
        try (KernelMap map = create(MapType.QUEUE, 0, 8, 4, 0)) {
            map.update(new byte[0], new byte[] {1, 0, 0, 0, 0, 0, 0, 0});
            map.update(new byte[0], new byte[] {2, 0, 0, 0, 0, 0, 0, 0});
            assertThat(map.lookupAndDelete(new byte[0]).orElseThrow()[0]).isEqualTo((byte) 1);
            assertThat(map.lookupAndDelete(new byte[0]).orElseThrow()[0]).isEqualTo((byte) 2);
            assertThat(map.lookupAndDelete(new byte[0])).isEmpty();
        }
    }

    @Test
    void keysSurviveTheirOwnDeletion() {
        try (KernelMap map = create(MapType.HASH, 4, 8, 1000, 0)) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            for (int i = 0; i < 1000; i++) {
                typed.put(i, (long) i);
            }
            AtomicInteger given = new AtomicInteger();
            typed.forEach((key, _) -> {
                given.incrementAndGet();
                typed.remove(key);
            });
            assertThat(given).hasValue(1000);
            assertThat(map.keys()).isEmpty();
        }
    }

    /** Takes the optimizing compiler, without which the JVM of the tests runs. */
    @Test
    void operationsOnNativeMemoryAllocateNothing() throws Exception {
        Commands.check(Java.command(
                "-cp",
                System.getProperty("java.class.path"),
                "--enable-native-access=ALL-UNNAMED",
                OperationsOnNativeMemory.class.getName()));
    }

    /** Ends when operations allocate nothing any more. */
    static final class OperationsOnNativeMemory {
        private OperationsOnNativeMemory() {}

        public static void main(String[] arguments) throws Exception {
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            try (KernelMap map = create(MapType.HASH, 4, 8, 16, 0);
                    Arena arena = Arena.ofConfined()) {
                MemorySegment key = arena.allocate(4, 4);
                MemorySegment value = arena.allocate(8, 8);
                // Once the JIT compiler has done its work, for which a busy machine takes its time.
                Await.until(
                        "60,000 operations for which less than 1000 bytes are allocated",
                        () -> {
                            long before = threads.getCurrentThreadAllocatedBytes();
                            for (int i = 0; i < 20_000; i++) {
                                key.set(ValueLayout.JAVA_INT, 0, i & 7);
                                map.update(key, value, UpdateMode.ANY);
                                map.lookup(key, value);
                                map.delete(key);
                            }
                            return threads.getCurrentThreadAllocatedBytes() - before;
                        },
                        allocated -> allocated < 1000);
            }
        }
    }

    @Test
    void closingWhileThreadsWorkOnItGivesThemAnExceptionAndNothingWorse() throws Exception {
        for (int round = 0; round < 30; round++) {
            KernelMap map = create(MapType.HASH, 4, 8, 16, 0);
            List<CompletableFuture<String>> workers = new ArrayList<>();
            CountDownLatch atWork = new CountDownLatch(3);
            for (int i = 0; i < 3; i++) {
                workers.add(CompletableFuture.supplyAsync(
                        () -> {
                            try (Arena arena = Arena.ofConfined()) {
                                MemorySegment key = arena.allocate(4, 4);
                                MemorySegment value = arena.allocate(8, 8);
                                map.update(key, value, UpdateMode.ANY);
                                atWork.countDown();
                                while (true) {
                                    map.update(key, value, UpdateMode.ANY);
                                    map.lookup(key, value);
                                }
                            } catch (IllegalStateException e) {
                                return String.valueOf(e.getMessage());
                            }
                        },
                        THREADS));
            }
            atWork.await();
            map.close();
            for (CompletableFuture<String> worker : workers) {
                assertThat(worker.get()).isEqualTo("map \"m\" is closed");
            }
        }
    }

    @Test
    void aFrozenMapRefusesUserSpace() {
        try (KernelMap map = create(MapType.ARRAY, 4, 8, 1, 0)) {
            map.freeze();
            assertThatThrownBy(() -> map.update(new byte[4], new byte[8]))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
            assertThat(map.lookup(new byte[4])).isPresent();
        }
    }

    @Test
    void aMappedArrayIsTheMap() {
        try (KernelMap map = create(MapType.ARRAY, 4, 12, MMAPABLE_ELEMENTS, MapSpec.F_MMAPABLE)) {
            MemorySegment values = map.values(true);
            values.set(ValueLayout.JAVA_BYTE, 16L * 3, (byte) 42);
            TypedMap<Integer, byte[]> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofBytes(12));
            assertThat(typed.get(3).orElseThrow()[0]).isEqualTo((byte) 42);
            Global global = new LoadedGlobal("first", map, Optional.of(values), true, 4, 8, Optional.empty());
            global.setLong(-1);
            assertThat(typed.get(0).orElseThrow()).containsExactly(0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1);
            assertThat(map.values(true)).as("mapped once").isSameAs(values);
        }
    }

    @Test
    void valuesThatAreReadInPlaceCanNotBeWritten() {
        MemorySegment values;
        try (BpfMap map =
                Maps.create(MapSpec.of("counters", MapType.ARRAY, 4, 8, 100).withFlags(MapSpec.F_MMAPABLE))) {
            map.freeze();
            values = map.values(false);
            assertThat(values.byteSize()).isEqualTo(800);
            assertThat(values.get(ValueLayout.JAVA_LONG, 792)).isZero();
            assertThat(values.isReadOnly()).isTrue();
            assertThatThrownBy(() -> map.values(true))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
        }
        assertThatThrownBy(() -> values.get(ValueLayout.JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
        try (KernelMap other = create(MapType.ARRAY, 4, 8, 1, 0)) {
            assertThatThrownBy(() -> other.values(false))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageEndingWith("is not an array with BPF_F_MMAPABLE");
        }
    }

    @Test
    void batchesReadManyElementsInOneCall() {
        try (KernelMap map = create(MapType.HASH, 4, 8, 1000, 0);
                Arena arena = Arena.ofConfined()) {
            MemorySegment keys = arena.allocate(4000, 8);
            MemorySegment values = arena.allocate(8000, 8);
            for (int i = 0; i < 1000; i++) {
                keys.setAtIndex(ValueLayout.JAVA_INT, i, i);
                values.setAtIndex(ValueLayout.JAVA_LONG, i, 2L * i);
            }
            MapCommand.BatchResult written = KERNEL.execute(new MapCommand.Batch(
                    MapCommand.BatchOp.UPDATE,
                    map.fd(),
                    MemorySegment.NULL,
                    MemorySegment.NULL,
                    keys,
                    values,
                    1000,
                    0));
            assertThat(written).isEqualTo(new MapCommand.BatchResult(0, 1000));
            keys.fill((byte) 0);
            values.fill((byte) 0);
            MemorySegment position = arena.allocate(8, 8);
            MapCommand.BatchResult read = KERNEL.execute(new MapCommand.Batch(
                    MapCommand.BatchOp.LOOKUP, map.fd(), MemorySegment.NULL, position, keys, values, 1000, 0));
            assertThat(read).as("the end").isEqualTo(new MapCommand.BatchResult(Errno.ENOENT.number(), 1000));
            long sum = 0;
            for (int i = 0; i < 1000; i++) {
                assertThat(values.getAtIndex(ValueLayout.JAVA_LONG, i))
                        .isEqualTo(2L * keys.getAtIndex(ValueLayout.JAVA_INT, i));
                sum += keys.getAtIndex(ValueLayout.JAVA_INT, i);
            }
            assertThat(sum).isEqualTo(999 * 1000 / 2);
        }
    }

    /** In a bpffs that is mounted nowhere: the machine's mounts stay as they are. */
    @Test
    void aPinnedMapIsFoundAgain() {
        try (Fd bpffs = KERNEL.execute(new FileCommand.DetachedMount("bpf"));
                KernelMap map = create(MapType.ARRAY, 4, 8, 1, 0)) {
            Path path = Path.of("/proc/self/fd", Integer.toString(bpffs.number()), "pinned");
            map.pin(path);
            map.update(new byte[4], new byte[] {1, 2, 3, 4, 5, 6, 7, 8});
            try (KernelMap again =
                    KernelMap.adopt(Host.running(), KERNEL.execute(new ObjectCommand.Get(path, 0)), "")) {
                assertThat(again.id()).isEqualTo(map.id());
                assertThat(again.name()).isEqualTo("m");
                assertThat(again.lookup(new byte[4]).orElseThrow()).containsExactly(1, 2, 3, 4, 5, 6, 7, 8);
            }
            assertThatThrownBy(() -> map.pin(path))
                    .isInstanceOfSatisfying(
                            SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EEXIST));
        }
    }

    @Test
    void aPinOutsideABpfFileSystemSaysWhatIsMissing(@TempDir Path elsewhere) {
        try (KernelMap map = create(MapType.ARRAY, 4, 8, 1, 0)) {
            assertThatThrownBy(() -> map.pin(elsewhere.resolve("pin")))
                    .isInstanceOf(SyscallException.class)
                    .hasMessageContaining("BPF_OBJ_PIN")
                    .hasMessageContaining("mount -t bpf");
        }
    }

    private static KernelMap create(MapType type, int keySize, int valueSize, int maxEntries, int flags) {
        return KernelMap.create(
                Host.running(),
                MapCommand.Create.of(type.number(), "m", keySize, valueSize, maxEntries)
                        .withFlags(flags),
                "m");
    }
}
