package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.internal.types.KernelBtf;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.ArenaMap;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * What reaches bpf(2) of an object that has something of everything: structs of functions, an arena, a bloom filter,
 * maps in maps and programs in maps. That the kernel takes it so is shown on the real one.
 */
class WholeObjectTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final ObjectSpec spec = ScriptedLoads.spec("whole.bpf.o");

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
        assertThat(kernel.mappings()).isZero();
    }

    private BpfLoader loader() {
        return ScriptedLoads.loader(kernel, spec);
    }

    private MapCommand.Create created(String name) {
        return kernel.commands(MapCommand.Create.class).stream()
                .filter(create -> create.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private ProgCommand.Load loaded(String name) {
        return kernel.commands(ProgCommand.Load.class).stream()
                .filter(load -> load.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    // Structs of functions

    @Test
    void aStructOfFunctionsIsAMapOfTheKernelsTypeAndProgramsForItsMembers() throws IOException {
        loader().load().close();
        Btf types = KernelBtf.of(kernel.host()).types();
        int wrapper =
                types.find("bpf_struct_ops_tcp_congestion_ops", BtfKind.STRUCT).orElseThrow();
        int ops = types.find("tcp_congestion_ops", BtfKind.STRUCT).orElseThrow();
        List<String> members = ((BtfType.Struct) types.type(ops))
                .members().stream().map(BtfType.Member::name).toList();

        MapCommand.Create map = created("control");
        assertThat(map.type()).isEqualTo(MapType.STRUCT_OPS.number());
        assertThat(map.keySize()).isEqualTo(4);
        assertThat(map.valueSize()).isEqualTo((int) types.size(wrapper));
        assertThat(map.maxEntries()).isEqualTo(1);
        assertThat(map.flags()).as("BPF_F_LINK").isEqualTo(1 << 13);
        assertThat(map.types().kernelValue()).isEqualTo(wrapper);
        assertThat(map.types().module()).as("the kernel's own").isNull();
        assertThat(map.types().btf()).isNotNull();
        assertThat(map.types().key() + map.types().value()).isZero();

        for (var program :
                List.of(List.of("steady", "ssthresh"), List.of("undo", "undo_cwnd"), List.of("avoid", "cong_avoid"))) {
            ProgCommand.Load load = loaded(program.getFirst());
            assertThat(load.type()).isEqualTo(ProgramType.STRUCT_OPS.number());
            assertThat(load.attachment().btfId()).isEqualTo(ops);
            assertThat(load.attachment().target()).isNull();
            assertThat(load.attachment().type()).as("the member's index").isEqualTo(members.indexOf(program.getLast()));
            assertThat(load.flags()).isZero();
        }
    }

    @Test
    void itsValueHasTheDescriptorsOfProgramsWhereItsFunctionsAre() throws IOException {
        Btf types = KernelBtf.of(kernel.host()).types();
        BtfType.Struct wrapper = (BtfType.Struct) types.type(
                types.find("bpf_struct_ops_tcp_congestion_ops", BtfKind.STRUCT).orElseThrow());
        BtfType.Struct ops = (BtfType.Struct)
                types.type(types.find("tcp_congestion_ops", BtfKind.STRUCT).orElseThrow());
        int start = (int) wrapper.members().getLast().bitOffset() / 8;

        try (BpfObject object = loader().load()) {
            kernel.clearCommands();
            try (Link link = object.attachStructOps("control")) {
                assertThat(link).isNotNull();
                Fd map = kernel.commands(MapCommand.Element.class).getFirst().map();
                ByteBuffer value = ByteBuffer.wrap(
                                HexFormat.of().parseHex(kernel.elements(map).get("00000000")))
                        .order(ByteOrder.nativeOrder());
                byte[] expected = new byte[(int) wrapper.size()];
                ByteBuffer expect = ByteBuffer.wrap(expected).order(ByteOrder.nativeOrder());
                expect.put(
                        start + offset(ops, "name"),
                        "bpf4j_whole".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
                expect.putLong(
                        start + offset(ops, "ssthresh"),
                        object.program("steady").fd().number());
                expect.putLong(
                        start + offset(ops, "undo_cwnd"),
                        object.program("undo").fd().number());
                expect.putLong(
                        start + offset(ops, "cong_avoid"),
                        object.program("avoid").fd().number());
                assertThat(value.array()).isEqualTo(expected);

                LinkCommand.Create create =
                        kernel.commands(LinkCommand.Create.class).getFirst();
                assertThat(create.program())
                        .as("the map is in the program's place")
                        .isSameAs(map);
                assertThat(create.attachType()).isEqualTo(AttachType.STRUCT_OPS.number());
            }
        }
    }

    private static int offset(BtfType.Struct struct, String member) {
        return (int) struct.members().stream()
                        .filter(each -> each.name().equals(member))
                        .findFirst()
                        .orElseThrow()
                        .bitOffset()
                / 8;
    }

    @Test
    void oneProgramCantServeTwoMembers() {
        assertThatThrownBy(() -> loader().structOps("control", control -> control.withFunction("undo_cwnd", "steady"))
                        .load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"steady\"")
                .hasMessageContaining("\"ssthresh\" of struct tcp_congestion_ops")
                .hasMessageContaining("\"undo_cwnd\" of struct tcp_congestion_ops")
                .hasMessageContaining("verified for one member");
    }

    // Arenas

    @Test
    void anArenaIsMadeMappedAndFilledBeforeThereArePrograms() {
        try (BpfObject object = loader().load()) {
            MapCommand.Create create = created("memory");
            assertThat(create.type()).isEqualTo(MapType.ARENA.number());
            assertThat(create.maxEntries()).as("pages").isEqualTo(4);
            assertThat(create.flags()).isEqualTo(MapSpec.F_MMAPABLE);
            assertThat(create.extra()).as("no address of its own").isZero();
            assertThat(create.keySize() + create.valueSize()).isZero();
            FileCommand.Map mapped = kernel.commands(FileCommand.Map.class).getFirst();
            assertThat(mapped.size()).isEqualTo(4 * 4096);
            List<Class<?>> order = kernel.commands().stream()
                    .<Class<?>>map(Object::getClass)
                    .filter(c -> c == FileCommand.Map.class || c == ProgCommand.Load.class)
                    .toList();
            assertThat(order).startsWith(FileCommand.Map.class);
            ByteBuffer bytes = ArenaMap.of(object.map("memory")).memory().asByteBuffer();
            assertThat(IntStream.range(0, 16 << 10).map(bytes::get).filter(b -> b != 0))
                    .as("the variable that is 42")
                    .containsExactly(42);
        }
    }

    /** From Linux 7.0 on, which takes any offset into a map; before, its first page has them. */
    @Test
    void theVariablesOfAnArenaAreInItsLastPage() {
        for (boolean anyOffset : new boolean[] {true, false}) {
            kernel.clearCommands();
            int start = anyOffset ? 3 * 4096 : 0;
            BpfLoader loader = anyOffset
                    ? loader()
                    : loader().features(ScriptedLoads.everything().without(Feature.LARGE_MAP_OFFSET));
            try (BpfObject object = loader.load()) {
                assertThat(placesIn("in_arena")).contains(start);
                MemorySegment arena = ArenaMap.of(object.map("memory")).memory();
                assertThat(arena.get(ValueLayout.JAVA_LONG, start)).isEqualTo(42);
                assertThat(object.global("shared").getLong()).isEqualTo(42);
                assertThat(object.findGlobal("shared")).isPresent();
                assertThat(object.findGlobal("nothing")).isEmpty();
                object.global("shared").setLong(43);
                assertThat(arena.get(ValueLayout.JAVA_LONG, start)).isEqualTo(43);
            }
        }
    }

    /** The offsets into values of maps whose addresses a program loads. */
    private List<Integer> placesIn(String program) {
        List<Instruction> code =
                Instructions.decode(ByteView.of(program, loaded(program).instructions(), ByteOrder.nativeOrder()));
        return IntStream.range(0, code.size())
                .filter(i -> code.get(i).isLoadImm64() && code.get(i).src() == Opcodes.PSEUDO_MAP_VALUE)
                .mapToObj(i -> code.get(i + 1).imm())
                .toList();
    }

    @Test
    void anArenaMayHaveAnAddressOfItsOwn() {
        loader().map("memory", map -> map.withExtra(0x1000_0000_0000L).withMaxEntries(9))
                .load()
                .close();
        assertThat(created("memory").extra()).isEqualTo(0x1000_0000_0000L);
        assertThat(created("memory").maxEntries()).isEqualTo(9);
    }

    @Test
    void anArenaThatIsTooSmallForItsVariablesSaysSo() {
        assertThatThrownBy(() ->
                        loader().map("memory", map -> map.withMaxEntries(0)).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("whole.bpf.o: arena \"memory\" of 0 bytes is too small for its global variables")
                .hasMessageContaining("max_entries");
    }

    // Others

    @Test
    void aBloomFilterHasItsHashFunctions() {
        loader().map("seen", map -> map.withNumaNode(1)).load().close();
        MapCommand.Create create = created("seen");
        assertThat(create.type()).isEqualTo(MapType.BLOOM_FILTER.number());
        assertThat(create.extra()).isEqualTo(3);
        assertThat(create.keySize()).isZero();
        assertThat(create.valueSize()).isEqualTo(4);
        assertThat(create.maxEntries()).isEqualTo(100);
        assertThat(create.numaNode()).isEqualTo(1);
        assertThat(create.flags()).isEqualTo(MapSpec.F_NUMA_NODE);
    }

    @Test
    void slotsHoldDescriptorsOfMapsAndPrograms() {
        try (BpfObject object = loader().load()) {
            assertThat(created("rows").inner()).as("only its shape").isNotNull();
            ByteBuffer row = ByteBuffer.wrap(
                            object.map("rows").lookup(new byte[] {1, 0, 0, 0}).orElseThrow())
                    .order(ByteOrder.nativeOrder());
            assertThat(row.getInt()).isPositive();
            ByteBuffer part = ByteBuffer.wrap(
                            object.map("parts").lookup(new byte[] {1, 0, 0, 0}).orElseThrow())
                    .order(ByteOrder.nativeOrder());
            assertThat(part.getInt()).isEqualTo(object.program("next_part").fd().number());
        }
    }

    @Test
    void whatTheSectionSaysOfSleepingAndFragmentsAreFlags() {
        try (BpfObject _ = loader().program("count", program -> program.withSection("xdp.frags/devmap"))
                .program("next_part", program -> program.withSection("uprobe.s"))
                .map("parts", map -> map.withSlots(List.of()))
                .load()) {
            assertThat(loaded("count").flags()).isEqualTo(1 << 5).isEqualTo(ProgramSpec.F_XDP_HAS_FRAGS);
            assertThat(loaded("count").attachment().type()).isEqualTo(AttachType.XDP_DEVMAP.number());
            assertThat(loaded("next_part").flags()).as("BPF_F_SLEEPABLE").isEqualTo(1 << 4);
            assertThat(loaded("next_part").type()).isEqualTo(ProgramType.KPROBE.number());
            assertThat(loaded("in_arena").flags())
                    .as("syscall programs sleep by nature, and the kernel wants it said")
                    .isEqualTo(1 << 4);
        }
    }
}
