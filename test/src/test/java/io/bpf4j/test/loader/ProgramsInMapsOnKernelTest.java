package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPFFS;
import static io.bpf4j.test.support.Requirement.LIVE_FRAMES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.Program;
import io.bpf4j.loader.ProgramArray;
import io.bpf4j.loader.Programs;
import io.bpf4j.loader.RedirectMap;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.MapOfMaps;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.support.Await;
import io.bpf4j.test.support.BpfFsMount;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.net.NetworkInterface;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Programs and maps as values of maps that are in use. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ProgramsInMapsOnKernelTest {
    private static final int XDP_DROP = 1;
    private static final int XDP_PASS = 2;
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    /** Continues in slot 0 of "steps"; returns 9 if it is empty. */
    private static BpfObject entry() {
        Assembler code = Assembler.create()
                .loadMap(R2, "steps")
                .mov(R3, 0)
                .call("bpf_tail_call")
                .mov(R0, 9)
                .exit();
        return BpfLoader.of(ObjectSpec.of("entry")
                        .withMap(MapSpec.of("steps", MapType.PROG_ARRAY, 4, 4, 4))
                        .withProgram(ProgramSpec.of("xdp", FunctionSpec.of("entry", code))))
                .load();
    }

    private static BpfObject returns(String section, int value) {
        FunctionSpec function = FunctionSpec.of(
                "returns_" + value, Assembler.create().mov(R0, value).exit());
        return BpfLoader.of(ObjectSpec.of("step").withProgram(ProgramSpec.of(section, function)))
                .load();
    }

    private static Program program(BpfObject object) {
        return object.programs().iterator().next();
    }

    private static void assertRefused(Errno errno, ThrowingCallable call, String... parts) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(errno))
                .hasMessageContainingAll(parts);
    }

    @Test
    void tailCallsGoIntoProgramsOfOtherObjectsAndAreSwapped() {
        try (BpfObject object = entry();
                BpfObject five = returns("xdp", 5);
                BpfObject six = returns("xdp", 6)) {
            Program entry = object.program("entry");
            ProgramArray steps = ProgramArray.of(object.map("steps"));
            assertThat(entry.test(PACKET).returned()).isEqualTo(9);
            steps.put(0, program(five));
            assertThat(entry.test(PACKET).returned()).isEqualTo(5);
            steps.put(0, program(six));
            assertThat(entry.test(PACKET).returned()).isEqualTo(6);
            assertThat(steps.id(0)).hasValue(program(six).id());
            assertThat(steps.id(1)).isEmpty();
            assertThat(steps.id(77)).isEmpty();
            TreeMap<Integer, Integer> all = new TreeMap<>();
            steps.put(3, program(five));
            steps.forEachId(all::put);
            assertThat(all)
                    .containsOnlyKeys(0, 3)
                    .containsEntry(3, program(five).id());
            assertThat(steps.remove(0)).isTrue();
            assertThat(steps.remove(0)).isFalse();
            assertThat(entry.test(PACKET).returned()).isEqualTo(9);
        }
    }

    @Test
    @Requires(BPFFS)
    void aPinnedProgramGoesIntoAPinnedMapAndStaysThere() {
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfObject object = entry()) {
            object.map("steps").pin(mount.path("steps"));
            try (BpfObject seven = returns("xdp", 7)) {
                program(seven).pin(mount.path("seven"));
            }
            try (Program seven = Programs.pinned(mount.path("seven"));
                    BpfMap steps = Maps.pinned(mount.path("steps"))) {
                ProgramArray.of(steps).put(0, seven);
                assertThat(seven.unpin(mount.path("seven"))).isTrue();
            }
            assertThat(object.program("entry").test(PACKET).returned()).isEqualTo(7);
            int id = ProgramArray.of(object.map("steps")).id(0).orElseThrow();
            try (Program again = Programs.byId(id)) {
                assertThat(again.name()).isEqualTo("returns_7");
            }
        }
    }

    @Test
    void aMapOfProgramsRefusesOthersByName() {
        try (BpfObject object = entry();
                BpfObject xdp = returns("xdp", 5);
                BpfObject socket = returns("socket", 5)) {
            ProgramArray steps = ProgramArray.of(object.map("steps"));
            assertThat(object.map("steps").info().programType()).hasValue(ProgramType.XDP.number());
            assertRefused(
                    Errno.EINVAL,
                    () -> steps.put(0, program(socket)),
                    "program \"returns_5\" is of type SOCKET_FILTER",
                    "map \"steps\" takes programs of type XDP");
            assertRefused(Errno.E2BIG, () -> steps.put(4, program(xdp)), "beyond the last element");
            assertThat(steps.id(0)).isEmpty();
            Program closed = program(xdp);
            closed.close();
            assertThatThrownBy(() -> steps.put(0, closed)).isInstanceOf(IllegalStateException.class);
            try (BpfMap hash = Maps.create(MapSpec.of("hash", MapType.HASH, 4, 4, 4))) {
                assertThatThrownBy(() -> ProgramArray.of(hash))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("map \"hash\" (HASH")
                        .hasMessageContaining("not a PROG_ARRAY");
                assertThat(hash.info().programType()).isEmpty();
            }
        }
    }

    /** Redirects every packet to processor 0, where another program counts and drops it. */
    private static BpfObject redirecting() {
        Assembler redirect = Assembler.create()
                .loadMap(R1, "processors")
                .mov(R2, 0)
                .mov(R3, XDP_DROP)
                .call("bpf_redirect_map")
                .exit();
        Assembler count = Assembler.create()
                .st(4, R10, -4, 0)
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .loadMap(R1, "seen")
                .call("bpf_map_lookup_elem")
                .jump(Opcodes.JEQ, R0, 0, "out")
                .mov(R1, 1)
                .atomic(8, Opcodes.ADD, R0, 0, R1)
                .label("out")
                .mov(R0, XDP_DROP)
                .exit();
        return BpfLoader.of(ObjectSpec.of("redirect")
                        .withMap(MapSpec.of("processors", MapType.CPUMAP, 4, 8, 4))
                        .withMap(MapSpec.of("seen", MapType.ARRAY, 4, 8, 1))
                        .withProgram(ProgramSpec.of("xdp", FunctionSpec.of("redirect", redirect)))
                        .withProgram(ProgramSpec.of("xdp/cpumap", FunctionSpec.of("count", count))))
                .load();
    }

    @Test
    @Requires(LIVE_FRAMES)
    void aProgramRunsOnTheProcessorThatPacketsAreRedirectedTo() throws Exception {
        try (BpfObject object = redirecting()) {
            RedirectMap processors = RedirectMap.of(object.map("processors"));
            Program count = object.program("count");
            processors.put(0, 192, count);
            assertThat(processors.get(0)).contains(new RedirectMap.Entry(192, OptionalInt.of(count.id())));
            object.program("redirect").test(PACKET.withRepeat(3).withLiveFrames(0));
            TypedMap<Integer, Long> seen = TypedMap.of(object.map("seen"), Codec.ofInt(), Codec.ofLong());
            Await.until("the packets at the processor", () -> seen.get(0).orElseThrow() == 3);
            processors.put(0, 64);
            assertThat(processors.get(0)).contains(new RedirectMap.Entry(64, OptionalInt.empty()));
            assertThat(processors.remove(0)).isTrue();
            assertThat(processors.get(0)).isEmpty();
        }
    }

    @Test
    void devicesAndProcessorsTakeTheirOwnPrograms() throws Exception {
        int loopback = NetworkInterface.getByName("lo").getIndex();
        try (BpfObject object = redirecting();
                BpfObject atDevice = returns("xdp/devmap", XDP_PASS);
                BpfObject socket = returns("socket", XDP_PASS);
                BpfMap array = Maps.create(MapSpec.of("devices", MapType.DEVMAP, 4, 8, 4));
                BpfMap hash = Maps.create(MapSpec.of("by_number", MapType.DEVMAP_HASH, 4, 8, 4));
                BpfMap plain = Maps.create(MapSpec.of("plain", MapType.DEVMAP, 4, 4, 4))) {
            for (BpfMap map : new BpfMap[] {array, hash}) {
                RedirectMap devices = RedirectMap.of(map);
                devices.put(2, loopback, program(atDevice));
                assertThat(devices.get(2))
                        .contains(new RedirectMap.Entry(
                                loopback, OptionalInt.of(program(atDevice).id())));
                devices.put(3, loopback);
                assertThat(devices.get(3)).contains(new RedirectMap.Entry(loopback, OptionalInt.empty()));
                assertThat(devices.get(1)).isEmpty();
                assertRefused(
                        Errno.EINVAL,
                        () -> devices.put(1, loopback, object.program("count")),
                        "program \"count\" is of type XDP and attach type XDP_CPUMAP",
                        "map \"" + map.name() + "\" takes programs of type XDP and attach type XDP_DEVMAP");
                assertRefused(
                        Errno.EINVAL,
                        () -> devices.put(1, loopback, program(socket)),
                        "is of type SOCKET_FILTER",
                        "SEC(\"xdp/devmap\")");
                assertThat(devices.remove(2)).isTrue();
                assertThat(devices.get(2)).isEmpty();
            }
            assertThat(RedirectMap.of(hash).remove(1)).isFalse();
            assertRefused(
                    Errno.ENOMEM,
                    () -> RedirectMap.of(object.map("processors")).put(0, 64, program(atDevice)),
                    "attach type XDP_DEVMAP",
                    "map \"processors\" takes programs of type XDP and attach type XDP_CPUMAP");
            RedirectMap small = RedirectMap.of(plain);
            small.put(0, loopback);
            assertThat(small.get(0)).contains(new RedirectMap.Entry(loopback, OptionalInt.empty()));
            assertThatThrownBy(() -> small.put(0, loopback, program(atDevice)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("without room for program \"returns_2\"")
                    .hasMessageContaining("struct bpf_devmap_val");
            assertThatThrownBy(() -> RedirectMap.of(object.map("seen")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not a DEVMAP, DEVMAP_HASH or CPUMAP");
        }
    }

    @Test
    @Requires(BPFFS)
    void aMapOfAPinGoesIntoAMapOfMapsAndAMisfitIsNamed() {
        MapSpec inner = MapSpec.of("inner", MapType.HASH, 4, 8, 4);
        MapSpec spec = MapSpec.of("outer", MapType.HASH_OF_MAPS, 4, 4, 4).withInner(inner);
        try (BpfFsMount mount = BpfFsMount.mount();
                BpfMap outer = Maps.create(spec);
                BpfMap wide = Maps.create(inner.withSizes(4, 16))) {
            try (BpfMap later = Maps.create(inner)) {
                later.pin(mount.path("later"));
            }
            MapOfMaps<Integer> maps = MapOfMaps.of(outer, Codec.ofInt());
            try (BpfMap pinned = Maps.pinned(mount.path("later"))) {
                maps.put(7, pinned);
                assertThat(maps.id(7)).hasValue(pinned.id());
            }
            assertRefused(
                    Errno.EINVAL,
                    () -> maps.put(8, wide),
                    "map \"inner\" is HASH, key 4 B, value 16 B",
                    "definition of inner maps of map \"outer\": HASH, key 4 B, value 8 B");
            outer.pin(mount.path("outer"));
            try (BpfMap opened = Maps.pinned(mount.path("outer"))) {
                assertRefused(
                        Errno.EINVAL,
                        () -> MapOfMaps.of(opened, Codec.ofInt()).put(8, wide),
                        "map \"inner\" is HASH, key 4 B, value 16 B",
                        "definition of inner maps of map \"outer\": type, sizes");
            }
        }
    }
}
