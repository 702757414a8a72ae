package io.bpf4j.loader.internal.map;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class KernelMapTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final KernelMap hash = create(MapType.HASH, 4, 8, 4);

    @AfterEach
    void close() {
        hash.close();
    }

    /** A map whose memory a native call uses gives back the rest, and the memory once the call is over. */
    @Test
    void memoryThatIsInUseIsUnmappedByTheNextClose() throws Throwable {
        KernelMap array = createMappable(8);
        MemorySegment memory = array.values(true);
        duringACallWith(memory, () -> {
            int open = kernel.open().size();
            assertThatThrownBy(array::close).isInstanceOf(IllegalStateException.class);
            assertThat(kernel.open()).hasSize(open - 1);
            assertThat(kernel.mappings()).isEqualTo(1);
        });
        array.close();
        assertThat(kernel.mappings()).isZero();
    }

    /** Has qsort(3) compare two elements of the memory, and runs {@code action} while it does. */
    @SuppressWarnings("restricted") // a call into the C library is what the test is about
    private static void duringACallWith(MemorySegment memory, Runnable action) throws Throwable {
        List<Throwable> thrown = new ArrayList<>();
        Linker linker = Linker.nativeLinker();
        MethodHandle compare = MethodHandles.lookup()
                .findStatic(
                        KernelMapTest.class,
                        "compare",
                        MethodType.methodType(
                                int.class, Runnable.class, List.class, MemorySegment.class, MemorySegment.class));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment comparing = linker.upcallStub(
                    MethodHandles.insertArguments(compare, 0, action, thrown),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.ADDRESS),
                    arena);
            linker.downcallHandle(
                            linker.defaultLookup().findOrThrow("qsort"),
                            FunctionDescriptor.ofVoid(
                                    ValueLayout.ADDRESS,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.JAVA_LONG,
                                    ValueLayout.ADDRESS))
                    .invokeExact(memory, 2L, 8L, comparing);
        }
        assertThat(thrown).isEmpty();
    }

    @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // called by the C library
    private static int compare(Runnable action, List<Throwable> thrown, MemorySegment left, MemorySegment right) {
        try {
            action.run();
        } catch (Throwable e) { // would end the JVM
            thrown.add(e);
        }
        return 0;
    }

    @Test
    void elementsComeAndGo() {
        assertThat(hash.lookup(key(1))).isEmpty();
        hash.update(key(1), value(10));
        assertThat(hash.lookup(key(1)))
                .hasValueSatisfying(bytes -> assertThat(bytes).isEqualTo(value(10)));
        assertThat(hash.delete(key(1))).isTrue();
        assertThat(hash.delete(key(1))).isFalse();
    }

    @Test
    void updateModesAnswerInsteadOfThrowing() {
        assertThat(hash.update(key(1), value(1), UpdateMode.EXISTING_ONLY)).isFalse();
        assertThat(hash.update(key(1), value(1), UpdateMode.NEW_ONLY)).isTrue();
        assertThat(hash.update(key(1), value(2), UpdateMode.NEW_ONLY)).isFalse();
        assertThat(hash.update(key(1), value(3), UpdateMode.EXISTING_ONLY)).isTrue();
        assertThat(hash.lookupAndDelete(key(1)))
                .hasValueSatisfying(bytes -> assertThat(bytes).isEqualTo(value(3)));
        assertThat(hash.lookup(key(1))).isEmpty();
    }

    @Test
    void segmentsWorkFromTheHeapAndFromNativeMemory() {
        try (Arena arena = Arena.ofConfined()) {
            for (boolean nativeMemory : new boolean[] {true, false}) {
                MemorySegment key = nativeMemory ? arena.allocate(4, 4) : MemorySegment.ofArray(new byte[4]);
                MemorySegment value = nativeMemory ? arena.allocate(8, 8) : MemorySegment.ofArray(new byte[8]);
                key.set(ValueLayout.JAVA_INT_UNALIGNED, 0, 5);
                value.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 50);
                assertThat(hash.update(key, value, UpdateMode.ANY)).isTrue();
                value.fill((byte) 0);
                assertThat(hash.lookup(key, value)).isTrue();
                assertThat(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(50);
                MemorySegment next = nativeMemory ? arena.allocate(4, 4) : MemorySegment.ofArray(new byte[4]);
                assertThat(hash.nextKey(MemorySegment.NULL, next)).isTrue();
                assertThat(next.get(ValueLayout.JAVA_INT_UNALIGNED, 0)).isEqualTo(5);
                assertThat(hash.nextKey(key, next)).isFalse();
                value.fill((byte) 0);
                assertThat(hash.lookupAndDelete(key, value)).isTrue();
                assertThat(value.get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(50);
                assertThat(hash.delete(key)).isFalse();
            }
        }
    }

    @Test
    void aFullMapIsNamedWithItsSize() {
        for (int i = 0; i < 4; i++) {
            hash.update(key(i), value(i));
        }
        assertThatThrownBy(() -> hash.update(key(9), value(9)))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("bpf(BPF_MAP_UPDATE_ELEM) on map \"m\" failed: E2BIG")
                .hasMessageContaining("full with 4 elements");
    }

    @Test
    void sizesMustFitBeforeTheKernelReadsBeyond() {
        assertThatThrownBy(() -> hash.lookup(new byte[3]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("map \"m\" has a key of 4 bytes, not of 3");
        assertThatThrownBy(() -> hash.update(key(1), new byte[7])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> hash.lookup(MemorySegment.ofArray(key(1)), MemorySegment.ofArray(new byte[7])))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> hash.delete(new byte[5])).isInstanceOf(IllegalArgumentException.class);
        assertThat(kernel.commands(MapCommand.Element.class)).isEmpty();
    }

    @Test
    void keysComeOnceEach() {
        for (int i = 0; i < 4; i++) {
            hash.update(key(i), value(i));
        }
        assertThat(keys()).containsExactly(0, 1, 2, 3);
    }

    @Test
    void keysSurviveTheirOwnDeletion() {
        for (int i = 0; i < 4; i++) {
            hash.update(key(i), value(i));
        }
        List<Integer> seen = new ArrayList<>();
        for (byte[] key : hash.keys()) {
            seen.add(decode(key));
            hash.delete(key);
        }
        assertThat(seen).containsExactly(0, 1, 2, 3);
        assertThat(keys()).isEmpty();
    }

    @Test
    void keysComeOnceAlsoWhenTheKernelStartsOver() {
        for (int i = 0; i < 4; i++) {
            hash.update(key(i), value(i));
        }
        List<Integer> seen = new ArrayList<>();
        for (byte[] key : hash.keys()) {
            seen.add(decode(key));
            if (seen.size() == 1) {
                // Key 1 has been fetched already: the kernel can't find it and begins anew with 0.
                hash.delete(key(1));
            }
        }
        assertThat(seen).containsExactly(0, 1, 2, 3);
    }

    @Test
    void aWalkFailsIfTheKernelStartsOverForEver() {
        hash.update(key(0), value(0));
        kernel.answer(MapCommand.Element.class, element -> {
            element.value().set(ValueLayout.JAVA_INT_UNALIGNED, 0, 0);
            return 0;
        });
        assertThatThrownBy(this::keys).isInstanceOf(BpfException.class).hasMessageContaining("again and again");
    }

    @Test
    void arraysAreWalkedWithoutAMemory() {
        try (KernelMap array = create(MapType.ARRAY, 4, 8, 3)) {
            List<Integer> seen = new ArrayList<>();
            array.keys().forEach(key -> seen.add(decode(key)));
            assertThat(seen).containsExactly(0, 1, 2);
        }
    }

    @Test
    void aFrozenMapRefusesWrites() {
        hash.freeze();
        assertThatThrownBy(() -> hash.update(key(1), value(1)))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EPERM));
    }

    @Test
    void pinGoesToThePath() {
        hash.pin(Path.of("/sys/fs/bpf/m"));
        assertThat(kernel.commands(ObjectCommand.Pin.class))
                .singleElement()
                .satisfies(pin -> assertThat(pin.path()).isEqualTo(Path.of("/sys/fs/bpf/m")));
    }

    @Test
    void memoryIsSharedWithTheMapAndGoesWithIt() {
        KernelMap array = createMappable(12);
        MemorySegment values = array.values(true);
        values.set(ValueLayout.JAVA_INT, 16, 42); // the second value: each is rounded up to 8 bytes
        assertThat(array.lookup(key(1)).orElseThrow()).startsWith(key(42));
        assertThat(kernel.mappings()).isEqualTo(1);
        array.close();
        array.close();
        assertThat(kernel.mappings()).isZero();
        assertThatThrownBy(() -> values.get(ValueLayout.JAVA_INT, 16)).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void aClosedMapRefusesEverything() {
        KernelMap map = create(MapType.HASH, 4, 8, 4);
        map.close();
        assertThat(map.isClosed()).isTrue();
        assertThatThrownBy(() -> map.lookup(key(1)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("map \"m\" is closed");
    }

    @Test
    void aMapThatCantBeLookedAtIsClosed() {
        ScriptedKernel blind = new ScriptedKernel();
        blind.fail(ObjectCommand.InfoOfMap.class, Errno.EPERM);
        assertThatThrownBy(() -> KernelMap.create(blind.host(), MapCommand.Create.of(1, "m", 4, 8, 4), "m"))
                .isInstanceOf(SyscallException.class);
        assertThat(blind.open()).isEmpty();
    }

    @Test
    void typedMapsSpeakJava() {
        TypedMap<Integer, Long> typed = TypedMap.of(hash, Codec.ofInt(), Codec.ofLong());
        typed.put(1, 100L);
        typed.put(2, 200L);
        assertThat(typed.get(1)).contains(100L);
        assertThat(typed.get(3)).isEmpty();
        Map<Integer, Long> all = new HashMap<>();
        typed.forEach(all::put);
        assertThat(all).isEqualTo(Map.of(1, 100L, 2, 200L));
        assertThat(typed.put(1, 5L, UpdateMode.NEW_ONLY)).isFalse();
        assertThat(typed.take(2)).contains(200L);
        assertThat(typed.remove(1)).isTrue();
        assertThat(keys()).isEmpty();
    }

    @Test
    void codecsMustFitTheMap() {
        assertThatThrownBy(() -> TypedMap.of(hash, Codec.ofLong(), Codec.ofLong()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("map \"m\" has a key of 4 bytes, but the codec is for 8");
        assertThatThrownBy(() -> TypedMap.perCpu(hash, Codec.ofInt(), Codec.ofLong()))
                .hasMessageContaining("use TypedMap");
    }

    @Test
    void perCpuValuesAreRoundedUpToEightBytesEach() {
        try (KernelMap perCpu = create(MapType.PERCPU_HASH, 4, 4, 4)) {
            int cpus = CpuSet.possible(kernel.host()).count();
            assertThat(perCpu.valueBytes()).isEqualTo(8L * cpus);
            TypedMap<Integer, List<Integer>> typed = TypedMap.perCpu(perCpu, Codec.ofInt(), Codec.ofInt());
            List<Integer> values = new ArrayList<>(Collections.nCopies(cpus, 7));
            values.set(cpus - 1, 9);
            typed.put(1, values);
            assertThat(typed.get(1)).contains(values);
            byte[] raw = perCpu.lookup(key(1)).orElseThrow();
            assertThat(MemorySegment.ofArray(raw).get(ValueLayout.JAVA_INT_UNALIGNED, 8L * (cpus - 1)))
                    .isEqualTo(9);
            assertThatThrownBy(() -> typed.put(1, List.of())).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> TypedMap.of(perCpu, Codec.ofInt(), Codec.ofInt()))
                    .hasMessageContaining("use TypedMap.perCpu");
        }
    }

    @Test
    void aLockedViewAsksForTheLockEachTime() {
        TypedMap<Integer, Long> locked = TypedMap.locked(hash, Codec.ofInt(), Codec.ofLong());
        locked.put(1, 10L);
        assertThat(locked.put(1, 11L, UpdateMode.NEW_ONLY)).isFalse();
        locked.putAll(Map.of(2, 20L));
        assertThat(locked.get(1)).contains(10L);
        assertThat(locked.toMap()).isEqualTo(Map.of(1, 10L, 2, 20L));
        assertThat(locked.take(1)).contains(10L);
        assertThat(locked.drain((key, value) -> assertThat(value).isEqualTo(20L)))
                .isOne();
        assertThat(kernel.commands(MapCommand.Element.class))
                .filteredOn(element -> element.op() != MapCommand.Op.NEXT_KEY)
                .isNotEmpty()
                .allSatisfy(element -> assertThat(element.flags() & ~1).isEqualTo(4));
        assertThat(kernel.commands(MapCommand.Batch.class)).isEmpty();
    }

    @Test
    void aFlagThatTheKernelOrTheMapLacksIsNamed() {
        kernel.fail(MapCommand.Element.class, Errno.EINVAL);
        assertThatThrownBy(() -> TypedMap.locked(hash, Codec.ofInt(), Codec.ofLong()))
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("BPF_F_LOCK needs Linux 5.1, and values with a struct bpf_spin_lock");
        MemorySegment key = MemorySegment.ofArray(key(1));
        MemorySegment value = MemorySegment.ofArray(value(1));
        assertThatThrownBy(() -> hash.lookup(key, value, BpfMap.ofCpu(3)))
                .hasMessageContaining("BPF_F_CPU and BPF_F_ALL_CPUS need Linux 7.0");
        assertThat(kernel.commands(MapCommand.Element.class).getLast().flags()).isEqualTo(0x3_0000_0008L);
    }

    @Test
    void theValueOfOneCpuHasTheSizeOfAValue() {
        try (KernelMap perCpu = create(MapType.PERCPU_HASH, 4, 8, 4)) {
            MemorySegment key = MemorySegment.ofArray(key(1));
            MemorySegment all = MemorySegment.ofArray(new byte[(int) perCpu.valueBytes() + 8]);
            assertThatThrownBy(() -> perCpu.update(key, all, BpfMap.F_ALL_CPUS))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("has a value of 8 bytes");
            assertThat(kernel.commands(MapCommand.Element.class)).isEmpty();
        }
    }

    private KernelMap create(MapType type, int keySize, int valueSize, int maxEntries) {
        return KernelMap.create(
                kernel.host(), MapCommand.Create.of(type.number(), "m", keySize, valueSize, maxEntries), "m");
    }

    private KernelMap createMappable(int valueSize) {
        return KernelMap.create(
                kernel.host(),
                MapCommand.Create.of(MapType.ARRAY.number(), "m", 4, valueSize, 2)
                        .withFlags(MapSpec.F_MMAPABLE),
                "m");
    }

    private List<Integer> keys() {
        List<Integer> keys = new ArrayList<>();
        hash.keys().forEach(key -> keys.add(decode(key)));
        return keys;
    }

    private static byte[] key(int key) {
        byte[] bytes = new byte[4];
        MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_INT_UNALIGNED, 0, key);
        return bytes;
    }

    private static byte[] value(long value) {
        byte[] bytes = new byte[8];
        MemorySegment.ofArray(bytes).set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
        return bytes;
    }

    private static int decode(byte[] key) {
        return MemorySegment.ofArray(key).get(ValueLayout.JAVA_INT_UNALIGNED, 0);
    }
}
