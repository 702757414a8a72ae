package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instructions;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BloomFilterMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.MapOfMaps;
import io.bpf4j.loader.map.QueueMap;
import io.bpf4j.loader.map.StackTraceMap;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapInfo;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kinds of map that are not plain tables, and maps that come from elsewhere. */
@Requires(Requirement.BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class MapKindsOnKernelTest {
    private static final int STACK_BUILD_ID = 1 << 5;
    private static final int GET_STACKID = 27;
    private static final int USER_STACK = 1 << 8;
    private static final int REUSE_STACKID = 1 << 10;

    /** Kernels before 7.2 say nothing. */
    @Test
    void aKernelMaySayWhyItRefusesAMap() {
        MapCommand.Create refused = MapCommand.Create.of(MapType.ARRAY.number(), "refused", 3, 4, 1);
        assertThat(Kernel.of(Host.running()).execute(new MapCommand.WhyRefused(refused)))
                .matches("|[A-Za-z].*");
        MapCommand.Create accepted = MapCommand.Create.of(MapType.ARRAY.number(), "accepted", 4, 4, 1);
        assertThat(Kernel.of(Host.running()).execute(new MapCommand.WhyRefused(accepted)))
                .isEmpty();
    }

    @Test
    void aQueueGivesTheOldestAndAStackTheNewest() {
        try (BpfMap queue = create(MapType.QUEUE, 0, 8, 3);
                BpfMap stack = create(MapType.STACK, 0, 8, 3)) {
            QueueMap<Long> first = QueueMap.of(queue, Codec.ofLong());
            QueueMap<Long> last = QueueMap.of(stack, Codec.ofLong());
            assertThat(first.peek()).isEmpty();
            assertThat(first.pop()).isEmpty();
            for (long i = 1; i <= 3; i++) {
                assertThat(first.push(i)).isTrue();
                assertThat(last.push(i)).isTrue();
            }
            assertThat(first.push(4L)).as("full").isFalse();
            first.pushOver(4L); // in place of 1
            assertThat(first.peek()).contains(2L);
            assertThat(first.pop()).contains(2L);
            List<Long> rest = new ArrayList<>();
            assertThat(first.drain(rest::add)).isEqualTo(2);
            assertThat(rest).containsExactly(3L, 4L);
            assertThat(last.pop()).contains(3L);
            assertThat(last.peek()).contains(2L);
            assertThatThrownBy(() -> queue.forEach((_, _) -> {})).isInstanceOf(SyscallException.class);
        }
    }

    @Test
    @Requires(Requirement.BLOOM_FILTER)
    void aBloomFilterKnowsWhatWasNeverAdded() {
        try (BpfMap map = create(MapType.BLOOM_FILTER, 0, 8, 1000)) {
            BloomFilterMap<Long> filter = BloomFilterMap.of(map, Codec.ofLong());
            for (long i = 0; i < 1000; i++) {
                filter.add(i);
            }
            int wrong = 0;
            for (long i = 0; i < 1000; i++) {
                assertThat(filter.mightContain(i)).isTrue();
                wrong += filter.mightContain(1_000_000 + i) ? 1 : 0;
            }
            assertThat(wrong).as("false answers of 1000").isLessThan(100);
        }
    }

    /** The key of a trie, {@code struct bpf_lpm_trie_key_u8}: how many bits count, and the data, here of IPv4. */
    private record Prefix(int bits, byte a, byte b, byte c, byte d) {
        static Prefix of(int bits, int a, int b, int c, int d) {
            return new Prefix(bits, (byte) a, (byte) b, (byte) c, (byte) d);
        }
    }

    @Test
    void theLongestPrefixWins() {
        MapSpec spec = MapSpec.of("routes", MapType.LPM_TRIE, 8, 4, 100).withFlags(MapSpec.F_NO_PREALLOC);
        Prefix all = Prefix.of(0, 0, 0, 0, 0);
        Prefix wide = Prefix.of(8, 10, 0, 0, 0);
        Prefix narrow = Prefix.of(16, 10, 1, 0, 0);
        Prefix one = Prefix.of(32, 10, 1, 2, 3);
        try (BpfMap map = Maps.create(spec)) {
            TypedMap<Prefix, Integer> routes = TypedMap.of(map, Codec.ofRecord(Prefix.class), Codec.ofInt());
            routes.put(all, 1);
            routes.put(wide, 2);
            routes.put(narrow, 3);
            routes.put(one, 4);
            assertThat(routes.get(one)).contains(4);
            assertThat(routes.get(Prefix.of(32, 10, 1, 2, 4))).contains(3);
            assertThat(routes.get(Prefix.of(32, 10, 2, 0, 1))).contains(2);
            assertThat(routes.get(Prefix.of(32, 9, 0, 0, 1))).contains(1);
            assertThat(routes.toMap()).hasSize(4).containsEntry(narrow, 3).containsEntry(one, 4);
            Map<Prefix, Integer> seen = new HashMap<>();
            routes.forEach((prefix, value) -> {
                seen.put(prefix, value);
                routes.remove(prefix); // the key that a walk would go on from
            });
            assertThat(seen).containsOnlyKeys(all, wide, narrow, one);
            assertThat(routes.toMap()).isEmpty();
        }
    }

    @Test
    void anLruMapMakesRoom() {
        try (BpfMap map = create(MapType.LRU_HASH, 4, 8, 1000)) {
            TypedMap<Integer, Long> typed = TypedMap.of(map, Codec.ofInt(), Codec.ofLong());
            for (int i = 0; i < 10_000; i++) {
                typed.put(i, (long) i);
            }
            Map<Integer, Long> left = typed.toMap();
            assertThat(left.size()).isBetween(1, 1000);
            assertThat(left).containsKey(9_999);
            assertThat(left).allSatisfy((key, value) -> assertThat(value).isEqualTo(key.longValue()));
        }
    }

    @Test
    void mapsLiveInMapsWhenNobodyElseHoldsThem() {
        MapSpec inner = MapSpec.of("inner", MapType.ARRAY, 4, 8, 2);
        for (MapType type : List.of(MapType.ARRAY_OF_MAPS, MapType.HASH_OF_MAPS)) {
            try (BpfMap outer = Maps.create(MapSpec.of("outer", type, 4, 4, 4).withInner(inner))) {
                MapOfMaps<Integer> maps = MapOfMaps.of(outer, Codec.ofInt());
                int id;
                try (BpfMap map = Maps.create(inner)) {
                    id = map.id();
                    map.update(new byte[4], new byte[] {9, 0, 0, 0, 0, 0, 0, 0});
                    maps.put(2, map);
                }
                assertThat(maps.id(2)).hasValue(id);
                assertThat(maps.id(1)).isEmpty();
                try (BpfMap again = Maps.byId(id)) {
                    assertThat(again.id()).isEqualTo(id);
                    assertThat(again.name()).isEqualTo("inner");
                    assertThat(again.lookup(new byte[4]).orElseThrow()[0]).isEqualTo((byte) 9);
                }
                Map<Integer, Integer> ids = new TreeMap<>();
                maps.forEachId(ids::put);
                assertThat(ids).as(type.name()).isEqualTo(Map.of(2, id));
                try (BpfMap other = create(MapType.ARRAY, 4, 16, 2)) {
                    assertThatThrownBy(() -> maps.put(3, other))
                            .isInstanceOfSatisfying(
                                    SyscallException.class,
                                    e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL))
                            .hasMessageContaining("the inner map must match");
                }
                assertThat(maps.remove(2)).isTrue();
                assertThat(maps.id(2)).isEmpty();
            }
        }
    }

    @Test
    void stackTracesAreRead() throws Exception {
        try (BpfMap kernelStacks = create(MapType.STACK_TRACE, 4, 127 * 8, 64);
                BpfMap userStacks = create(MapType.STACK_TRACE, 4, 127 * 8, 64);
                BpfMap files = Maps.create(
                        MapSpec.of("m", MapType.STACK_TRACE, 4, 32 * 32, 64).withFlags(STACK_BUILD_ID))) {
            StackTraceMap traces = StackTraceMap.of(kernelStacks);
            int id = takeStack(kernelStacks, REUSE_STACKID);
            List<StackTraceMap.Frame> frames = traces.get(id).orElseThrow();
            assertThat(frames)
                    .isNotEmpty()
                    .allSatisfy(frame -> assertThat(((StackTraceMap.Address) frame).address())
                            .as("an address of the kernel")
                            .isNegative());
            assertThat(traces.ids()).containsExactly(id);
            assertThat(traces.remove(id)).isTrue();
            assertThat(traces.get(id)).isEmpty();
            assertThat(traces.remove(id)).isFalse();

            int user = takeStack(userStacks, USER_STACK | REUSE_STACKID);
            // The kernel follows frame pointers. Code of the JVM has none, so that only the first frame is an address.
            assertThat(StackTraceMap.of(userStacks).get(user).orElseThrow())
                    .first()
                    .satisfies(frame -> assertThat(((StackTraceMap.Address) frame).address())
                            .isPositive());

            // The kernel gives addresses instead where it would have to wait: while another thread maps memory, or for
            // the file's first page.
            Await.until(
                    "a frame of syscall() of libc, which has a build-id",
                    () -> StackTraceMap.of(files)
                            .get(takeStack(files, USER_STACK | REUSE_STACKID))
                            .orElseThrow(),
                    inFiles -> inFiles.stream().anyMatch(MapKindsOnKernelTest::hasBuildId));
        }
    }

    private static boolean hasBuildId(StackTraceMap.Frame frame) {
        return frame instanceof StackTraceMap.InFile place && place.buildId().matches("[0-9a-f]{40}");
    }

    /** Runs a program that takes the stack of this thread; gives the id that the helper gave. */
    private static int takeStack(BpfMap map, int flags) {
        Kernel kernel = Kernel.of(Host.running());
        KernelMap own = KernelMap.of(map);
        byte[] code = Instructions.encode(
                Assembler.create()
                        .loadMapFd(R2, own.fd().number())
                        .mov(R3, flags)
                        .call(GET_STACKID)
                        .exit()
                        .assemble(),
                ByteOrder.nativeOrder());
        ProgCommand.Load load = ProgCommand.Load.of(ProgramType.RAW_TRACEPOINT.number(), "stack", code, "GPL")
                .withInstructionFds(List.of(own.fd()))
                .withLog(new ProgCommand.Log(1, 1 << 16));
        switch (kernel.execute(load)) {
            case LoadResult.Loaded loaded -> {
                try (Fd program = loaded.fd()) {
                    int id = kernel.execute(
                                    new ProgCommand.TestRun(program, new byte[0], 0, new byte[0], 0, 0, 0, 0, 0))
                            .returned();
                    assertThat(id).as("what bpf_get_stackid gave").isNotNegative();
                    return id;
                }
            }
            case LoadResult.Refused refused -> throw new AssertionError(refused.log());
        }
    }

    /** What {@code MapAttributes} says of every kernel is true of this one. */
    @ParameterizedTest
    @CsvSource({
        "HASH, 4, 8, 0, 0, has max_entries 0",
        "PROG_ARRAY, 4, 4, 0, 0, has max_entries 0",
        "LPM_TRIE, 8, 8, 0, 1, has max_entries 0",
        "QUEUE, 0, 8, 0, 0, has max_entries 0",
        "CPUMAP, 4, 4, 0, 0, has max_entries 0",
        "STACK_TRACE, 4, 8, 0, 0, has max_entries 0",
        "SOCKMAP, 4, 4, 0, 0, has max_entries 0",
        "DEVMAP, 4, 4, 0, 0, has max_entries 0",
        "XSKMAP, 4, 4, 0, 0, has max_entries 0",
        "REUSEPORT_SOCKARRAY, 4, 8, 0, 0, has max_entries 0",
        "CGROUP_ARRAY, 4, 4, 0, 0, has max_entries 0",
        "ARRAY, 8, 8, 1, 0, has a key of 8 bytes",
        "HASH, 0, 8, 1, 0, has a key of 0 bytes",
        "HASH, 4, 0, 1, 0, has a value of 0 bytes",
        "LPM_TRIE, 4, 8, 1, 1, has a key of 4 bytes",
        "LPM_TRIE, 261, 8, 1, 1, has a key of 261 bytes",
        "QUEUE, 4, 8, 1, 0, has a key of 4 bytes",
        "PERF_EVENT_ARRAY, 4, 8, 1, 0, has a value of 8 bytes",
        "XSKMAP, 4, 8, 1, 0, has a value of 8 bytes",
        "SOCKHASH, 4, 12, 1, 0, has a value of 12 bytes",
        "DEVMAP, 4, 12, 1, 0, has a value of 12 bytes",
        "CPUMAP, 4, 12, 1, 0, has a value of 12 bytes",
        "STACK_TRACE, 4, 12, 1, 0, has a value of 12 bytes",
        "LPM_TRIE, 8, 8, 1, 0, lacks BPF_F_NO_PREALLOC",
        "LRU_HASH, 4, 8, 1, 1, has BPF_F_NO_PREALLOC",
        "SK_STORAGE, 4, 4, 1, 1, has max_entries 1",
        "SK_STORAGE, 4, 4, 0, 1, lacks the types"
    })
    void whatNoKernelMakesIsToldByItsReason(
            MapType type, int keySize, int valueSize, int maxEntries, int flags, String reason) {
        MapSpec spec = MapSpec.of("m", type, keySize, valueSize, maxEntries).withFlags(flags);
        assertThatThrownBy(() -> Maps.create(spec))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("map \"m\" " + reason);
    }

    @Test
    void aMapTellsWhatItIs() {
        try (BpfMap map = create(MapType.ARRAY, 4, 1 << 12, 100)) {
            MapInfo info = map.info();
            assertThat(info.id()).isEqualTo(map.id());
            assertThat(info.name()).isEqualTo("m");
            assertThat(info.typeNumber()).isEqualTo(MapType.ARRAY.number());
            assertThat(info.maxEntries()).isEqualTo(100);
            assertThat(info.memoryBytes().orElseThrow()).isGreaterThanOrEqualTo(100 << 12);
            assertThat(info.frozen()).contains(false);
            map.freeze();
            assertThat(map.info().frozen()).contains(true);
            try (BpfMap again = Maps.byId(map.id())) {
                assertThat(again.info()).isEqualTo(map.info());
            }
        }
        assertThatThrownBy(() -> Maps.byId(Integer.MAX_VALUE))
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
    }

    @Test
    @Requires(Requirement.BPFFS)
    void aPinOutlivesItsMapAndGoesOnlyWithItsOwn() throws Exception {
        try (BpfFsMount mount = BpfFsMount.mount()) {
            Path path = mount.path("m");
            int id;
            try (BpfMap map = create(MapType.ARRAY, 4, 8, 1)) {
                id = map.id();
                map.update(new byte[4], new byte[] {7, 0, 0, 0, 0, 0, 0, 0});
                map.pin(path);
                assertThatThrownBy(() -> map.pin(path))
                        .hasMessageContaining("EEXIST")
                        .hasMessageContaining("unpin it first");
                assertThatThrownBy(() -> map.pin(mount.path("with.dot"))).hasMessageContaining("use \"with_dot\"");
                assertThatThrownBy(() -> map.pin(mount.path("no/such/m")))
                        .hasMessageContaining("does not exist; create it in a mounted BPF file system");
            }
            try (BpfMap map = Maps.pinned(path);
                    BpfMap other = create(MapType.ARRAY, 4, 8, 1)) {
                assertThat(map.id()).isEqualTo(id);
                assertThat(map.lookup(new byte[4]).orElseThrow()[0]).isEqualTo((byte) 7);
                assertThatThrownBy(() -> other.unpin(path)).isInstanceOf(IllegalArgumentException.class);
                assertThat(Files.exists(path)).isTrue();
                assertThat(map.unpin(path)).isTrue();
                assertThat(map.unpin(path)).isFalse();
            }
            assertThatThrownBy(() -> Maps.pinned(path)).hasMessageContaining("ENOENT");
            byte[] code =
                    Instructions.encode(Assembler.create().mov(R0, 0).exit().assemble(), ByteOrder.nativeOrder());
            LoadResult loaded = Kernel.of(Host.running()).execute(ProgCommand.Load.of(1, "p", code, "GPL"));
            try (Fd program = ((LoadResult.Loaded) loaded).fd()) {
                BpfFs.pin(Kernel.of(Host.running()), program, path);
            }
            assertThatThrownBy(() -> Maps.pinned(path))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("is the pin of a program, not of a map");
        }
    }

    private static BpfMap create(MapType type, int keySize, int valueSize, int maxEntries) {
        return Maps.create(MapSpec.of("m", type, keySize, valueSize, maxEntries));
    }
}
