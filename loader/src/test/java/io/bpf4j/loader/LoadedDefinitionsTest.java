package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.elf.ByteView;
import io.bpf4j.elf.Section;
import io.bpf4j.elf.Symbol;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.TestObject;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What the kernel gets of an object: attributes of maps from BTF, global data of another size, static values in new
 * maps and old.
 */
class LoadedDefinitionsTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final TestObject object = new TestObject();

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private BpfLoader loader(ObjectSpec spec) {
        return ScriptedLoads.loader(kernel, spec);
    }

    private BpfLoader forms() {
        return loader(ScriptedLoads.spec("forms.bpf.o"));
    }

    private static byte[] key(int value) {
        return ByteBuffer.allocate(4)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array();
    }

    // Attributes

    @Test
    void everythingThatADefinitionSaysReachesTheKernel() {
        object.map(
                "m",
                object.number("type", MapType.HASH.number()),
                object.type("key", object.integer),
                object.number("value_size", 24),
                object.number("max_entries", 0x8000_0000L),
                object.number("map_flags", 5),
                object.number("numa_node", 1),
                object.wideNumber("map_extra", 0x1234_5678_9abc_def0L));
        try (BpfObject loaded = loader(object.parse()).load()) {
            MapCommand.Create create = kernel.commands(MapCommand.Create.class).getFirst();
            assertThat(create.type()).isEqualTo(1);
            assertThat(create.keySize()).isEqualTo(4);
            assertThat(create.valueSize()).isEqualTo(24);
            assertThat(create.maxEntries()).isEqualTo(0x8000_0000);
            assertThat(create.flags()).isEqualTo(5);
            assertThat(create.numaNode()).isEqualTo(1);
            assertThat(create.extra()).isEqualTo(0x1234_5678_9abc_def0L);
            assertThat(create.types().key()).isEqualTo(object.integer);
            assertThat(create.types().value()).isZero();
            assertThat(create.types().btf()).isNotNull();
            assertThat(loaded.maps()).hasSize(1);
        }
    }

    private ObjectSpec typedArrayOfPrograms() {
        object.map(
                "m",
                object.number("type", MapType.PROG_ARRAY.number()),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 1));
        return object.parse();
    }

    @Test
    void typesOfAProgramArrayReachTheKernel() {
        loader(typedArrayOfPrograms()).load().close();
        MapCommand.Create create = kernel.commands(MapCommand.Create.class).getFirst();
        assertThat(create.types().key()).isEqualTo(object.integer);
        assertThat(create.types().value()).isEqualTo(object.integer);
    }

    @ParameterizedTest
    @EnumSource(names = {"EINVAL", "ENOTSUPP", "EOPNOTSUPP", "EACCES", "E2BIG"})
    void aMapWhoseTypesTheKernelRefusesIsMadeWithoutThem(Errno errno) {
        kernel.fail(
                command -> command instanceof MapCommand.Create create
                        && create.types().btf() != null,
                errno);
        loader(typedArrayOfPrograms()).load().close();
        assertThat(kernel.commands(MapCommand.Create.class))
                .extracting(create -> create.types().key())
                .containsExactly(object.integer, 0);
    }

    @ParameterizedTest
    @EnumSource(names = {"EPERM", "ENOMEM", "EMFILE", "EBUSY"})
    void anErrorThatTypesCannotCauseIsNotTriedAgainWithoutThem(Errno errno) {
        kernel.fail(MapCommand.Create.class, errno);
        BpfLoader loader = loader(typedArrayOfPrograms());
        assertThatThrownBy(loader::load)
                .isInstanceOfSatisfying(
                        SyscallException.class, e -> assertThat(e.errno()).isEqualTo(errno));
        assertThat(kernel.commands(MapCommand.Create.class)).hasSize(1);
    }

    /** A number of entries is what these maps must not have: without one it is their kind that the kernel lacks. */
    @Test
    void aKindOfStorageThatTheKernelLacksIsNotAMapWithoutEntries() {
        object.map(
                "m",
                object.number("type", MapType.INODE_STORAGE.number()),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("map_flags", MapSpec.F_NO_PREALLOC));
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> loader(object.parse()).load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("this kernel can't create a map of INODE_STORAGE")
                .hasMessageEndingWith("such maps need Linux 5.10, built with CONFIG_BPF_LSM");
    }

    @Test
    void whatTheEmbedderSaysInsteadReachesTheKernel() {
        object.map(
                "m",
                object.number("type", MapType.HASH.number()),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 1));
        loader(object.parse())
                .map(
                        "m",
                        map -> map.withType(MapType.LRU_HASH.number())
                                .withMaxEntries(100)
                                .withFlags(MapSpec.F_RDONLY_PROG)
                                .withNumaNode(2)
                                .withExtra(7)
                                .withSizes(4, 40))
                .load()
                .close();
        MapCommand.Create create = kernel.commands(MapCommand.Create.class).getFirst();
        assertThat(create.type()).isEqualTo(MapType.LRU_HASH.number());
        assertThat(create.maxEntries()).isEqualTo(100);
        assertThat(create.flags()).isEqualTo(MapSpec.F_RDONLY_PROG | MapSpec.F_NUMA_NODE);
        assertThat(create.numaNode()).isEqualTo(2);
        assertThat(create.extra()).isEqualTo(7);
        assertThat(create.types().key()).isEqualTo(object.integer);
        assertThat(create.valueSize()).isEqualTo(40);
        assertThat(create.types().value()).as("of 4 bytes").isZero();
    }

    @Test
    void whatAnOlderDefinitionSaysReachesTheKernel() {
        loader(ScriptedLoads.spec("legacy.bpf.o")).load().close();
        MapCommand.Create hash = kernel.commands(MapCommand.Create.class).stream()
                .filter(c -> c.name().equals("old_hash"))
                .findFirst()
                .orElseThrow();
        assertThat(hash.type()).isEqualTo(MapType.HASH.number());
        assertThat(hash.keySize()).isEqualTo(4);
        assertThat(hash.valueSize()).isEqualTo(8);
        assertThat(hash.maxEntries()).isEqualTo(16);
        assertThat(hash.flags()).isEqualTo(MapSpec.F_NO_PREALLOC);
        assertThat(hash.types().key()).isPositive();
        assertThat(hash.types().value()).isPositive();
    }

    @Test
    void innerMapsAreMadeAsTheyAreDefined() {
        int inner = object.definition(
                object.number("type", MapType.ARRAY.number()),
                object.type("key", object.integer),
                object.type("value", object.integer),
                object.number("max_entries", 3),
                object.number("map_flags", MapSpec.F_INNER_MAP),
                object.number("numa_node", 2));
        object.map("m", object.number("type", MapType.ARRAY_OF_MAPS.number()), object.array("values", inner));
        loader(object.parse()).load().close();
        MapCommand.Create template = kernel.commands(MapCommand.Create.class).getFirst();
        assertThat(template.maxEntries()).isEqualTo(3);
        assertThat(template.flags()).isEqualTo(MapSpec.F_INNER_MAP);
        assertThat(template.numaNode()).isEqualTo(2);
        assertThat(template.types().key()).isEqualTo(object.integer);
        MapCommand.Create outer = kernel.commands(MapCommand.Create.class).getLast();
        assertThat(outer.inner()).isNotNull();
        assertThat(outer.keySize()).isEqualTo(4);
        assertThat(outer.valueSize()).isEqualTo(4);
    }

    @Test
    void optionsThatAreGivenAreInTheKconfigMap() {
        ObjectSpec spec = ScriptedLoads.spec("kconfig.bpf.o");
        try (BpfObject loaded = loader(spec)
                .kconfig("CONFIG_HZ=4711\nCONFIG_DEFAULT_HOSTNAME=\"me\"\nCONFIG_NET=m")
                .load()) {
            ByteBuffer values = ByteBuffer.wrap(
                            loaded.map(".kconfig").lookup(key(0)).orElseThrow())
                    .order(ByteOrder.nativeOrder());
            assertThat(values.getInt(spec.global("CONFIG_HZ").offset())).isEqualTo(4711);
            assertThat(values.getInt(spec.global("CONFIG_NET").offset())).isEqualTo(2);
            int hostname = spec.global("CONFIG_DEFAULT_HOSTNAME").offset();
            assertThat(values.slice(hostname, 3)).isEqualTo(ByteBuffer.wrap(new byte[] {'m', 'e', 0}));
        }
    }

    @Test
    void sizesWithoutTypesGoWithoutBtf() {
        object.map(
                "m",
                object.number("type", MapType.ARRAY.number()),
                object.number("key_size", 4),
                object.number("value_size", 8),
                object.number("max_entries", 1));
        loader(object.parse()).load().close();
        assertThat(kernel.commands(MapCommand.Create.class).getFirst().types().btf())
                .isNull();
    }

    @Test
    void aRingWithoutASizeIsRefusedAndAPerfArrayGetsOne() {
        object.map("m", object.number("type", MapType.RINGBUF.number()));
        assertThatThrownBy(() -> loader(object.parse()).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"m\"")
                .hasMessageContaining("max_entries");
        TestObject other = new TestObject();
        other.map(
                "perf",
                other.number("type", MapType.PERF_EVENT_ARRAY.number()),
                other.number("key_size", 4),
                other.number("value_size", 4));
        loader(other.parse()).load().close();
        assertThat(kernel.commands(MapCommand.Create.class).getLast().maxEntries())
                .isEqualTo(CpuSet.possible(kernel.host()).count());
    }

    @Test
    void aRefusedMapSaysWhatItWasToBe() {
        object.map(
                "m",
                object.number("type", MapType.HASH.number()),
                object.number("key_size", 4),
                object.number("value_size", 8),
                object.number("max_entries", 1),
                object.number("map_flags", 0x40));
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> loader(object.parse()).load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("\"m\"")
                .hasMessageContaining("HASH, key 4 B, value 8 B, max_entries 1, flags 0x40");
    }

    @Test
    void aMapOfUnknownMapsSaysWhatIsMissing() {
        object.map("m", object.number("type", MapType.HASH_OF_MAPS.number()), object.number("max_entries", 1));
        kernel.fail(MapCommand.Create.class, Errno.EINVAL);
        assertThatThrownBy(() -> loader(object.parse()).load()).hasMessageContaining("withInner");
    }

    // License and version

    @Test
    void licenseAndVersionReachTheKernel() {
        Instruction exit = new Instruction(0x95, 0, 0, 0, 0);
        object.program("socket", "main", exit);
        loader(object.parse()).load().close();
        ProgCommand.Load plain = kernel.commands(ProgCommand.Load.class).getFirst();
        assertThat(plain.license()).isEmpty();
        // What kernels before 5.0 want of kprobes.
        assertThat(plain.kernelVersion())
                .isEqualTo(new ScriptedKernel().host().version().code());

        TestObject other = new TestObject();
        other.program("socket", "main", exit);
        other.data("license", new byte[] {'G', 'P', 'L', 0});
        other.data("version", new byte[] {7, 19, 4, 0});
        loader(other.parse()).load().close();
        ProgCommand.Load told = kernel.commands(ProgCommand.Load.class).getLast();
        assertThat(told.license()).isEqualTo("GPL");
        assertThat(told.kernelVersion()).isEqualTo(0x41307);
    }

    // Sizes of global data

    private ObjectSpec samples() {
        object.data(".data.samples", new byte[] {4, 0, 0, 0, 7, 0, 0, 0});
        object.variable(".data.samples", "count", object.integer, 0, 4, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        int samples = object.types.add(new BtfType.Volatile(object.types.array(object.integer, object.integer, 1)));
        object.variable(".data.samples", "samples", samples, 4, 4, BtfType.Linkage.GLOBAL, Symbol.STV_HIDDEN);
        return object.parse();
    }

    private Btf loadedBtf() {
        byte[] bytes = kernel.commands(ProgCommand.LoadBtf.class).getFirst().btf();
        return Btf.parse(ByteView.of("loaded", bytes, ByteOrder.nativeOrder()));
    }

    /** A value is encoded when all edits are known. */
    @Test
    void aVariableIsSetBeforeOrAfterItsSectionIsResized() {
        byte[] value = {1, 2, 3, 4, 5, 6, 7, 8};
        ObjectSpec spec = samples();
        assertThat(contents(
                        spec,
                        loader -> loader.global("samples", value).map(".data.samples", map -> map.withSizes(4, 404))))
                .hasSize(404)
                .startsWith(4, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0)
                .isEqualTo(contents(
                        spec,
                        loader -> loader.map(".data.samples", map -> map.withSizes(4, 404))
                                .global("samples", value)));
    }

    private byte[] contents(ObjectSpec spec, UnaryOperator<BpfLoader> edits) {
        try (BpfObject loaded = edits.apply(loader(spec)).load()) {
            return loaded.map(".data.samples").lookup(key(0)).orElseThrow();
        }
    }

    @Test
    void anArrayAtTheEndGrowsWithItsSection() {
        try (BpfObject loaded = loader(samples())
                .map(".data.samples", map -> map.withSizes(4, 4 + 100 * 4))
                .global("samples", new byte[] {1, 2, 3, 4, 5, 6, 7, 8})
                .load()) {
            MapCommand.Create create = kernel.commands(MapCommand.Create.class).getFirst();
            assertThat(create.valueSize()).isEqualTo(404);
            assertThat(create.types().value()).isPositive();
            byte[] value = loaded.map(".data.samples").lookup(key(0)).orElseThrow();
            assertThat(value).hasSize(404).startsWith(4, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0);
            assertThat(loaded.spec().global("samples").size()).isEqualTo(400);

            Btf btf = loadedBtf();
            BtfType.Datasec section = (BtfType.Datasec) btf.type(create.types().value());
            assertThat(section.size()).isEqualTo(404);
            BtfType.SectionVariable last = section.variables().getLast();
            assertThat(last.offset()).isEqualTo(4);
            assertThat(last.size()).isEqualTo(400);
            assertThat(btf.size(last.type())).isEqualTo(400);
        }
    }

    @Test
    void hiddenVariablesAreTheObjectsOwn() {
        loader(samples()).load().close();
        Btf btf = loadedBtf();
        assertThat(((BtfType.Var) btf.type(btf.find("samples", BtfKind.VAR).orElseThrow())).linkage())
                .isEqualTo(BtfType.Linkage.STATIC);
        assertThat(((BtfType.Var) btf.type(btf.find("count", BtfKind.VAR).orElseThrow())).linkage())
                .isEqualTo(BtfType.Linkage.GLOBAL);
    }

    @Test
    void hiddenSubprogramsAreTheObjectsOwnAndHiddenProgramsAreNot() {
        int proto = object.types.add(new BtfType.FuncProto(object.integer, List.of()));
        for (String name : List.of("helper", "open", "main")) {
            object.types.add(new BtfType.Func(name, proto, BtfType.Linkage.GLOBAL));
        }
        byte[] exit = {(byte) 0x95, 0, 0, 0, 0, 0, 0, 0, (byte) 0x95, 0, 0, 0, 0, 0, 0, 0};
        int text = object.section(".text", Section.SHT_PROGBITS, Section.SHF_ALLOC | 4, exit);
        object.symbol("helper", text, 0, 8, Symbol.STT_FUNC, Symbol.STB_WEAK, Symbol.STV_INTERNAL);
        object.symbol("open", text, 8, 8, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_DEFAULT);
        int socket = object.section("socket", Section.SHT_PROGBITS, Section.SHF_ALLOC | 4, exit);
        object.symbol("main", socket, 0, 16, Symbol.STT_FUNC, Symbol.STB_GLOBAL, Symbol.STV_HIDDEN);
        loader(object.parse()).load().close();
        assertThat(linkage("helper")).isEqualTo(BtfType.Linkage.STATIC);
        assertThat(linkage("open")).isEqualTo(BtfType.Linkage.GLOBAL);
        assertThat(linkage("main")).isEqualTo(BtfType.Linkage.GLOBAL);
    }

    private int linkage(String function) {
        Btf btf = loadedBtf();
        return ((BtfType.Func) btf.type(btf.find(function, BtfKind.FUNC).orElseThrow())).linkage();
    }

    @Test
    void partOfAnElementIsRefused() {
        BpfLoader loader = loader(samples());
        assertThatThrownBy(() -> loader.map(".data.samples", map -> map.withSizes(4, 10)))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("samples")
                .hasMessageContaining("6");
    }

    @Test
    void whatIsNoArrayIsRefused() {
        object.data(".data", new byte[4]);
        object.variable(".data", "count", object.integer, 0, 4, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        BpfLoader loader = loader(object.parse());
        assertThatThrownBy(() -> loader.map(".data", map -> map.withSizes(4, 8)))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("count")
                .hasMessageContaining("not an array");
    }

    @Test
    void variablesOfMoreThanBtfCanSayAreRefused() {
        object.data("elsewhere", new byte[8]);
        for (String name : List.of("one", "two")) {
            object.variable(
                    "elsewhere", name, object.integer, 0, 0xffff_ffffL, BtfType.Linkage.GLOBAL, Symbol.STV_DEFAULT);
        }
        BpfLoader loader = loader(object.parse());
        assertThatThrownBy(loader::load)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("elsewhere");
    }

    @Test
    void aMapKeepsItsName() {
        assertThatThrownBy(() -> forms().map("outer", map -> MapSpec.of("other", MapType.ARRAY, 4, 4, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("other");
    }

    // Static values

    @Test
    void aMapOfMapsThatWasThereKeepsWhatItHolds() {
        try (BpfObject first = forms().load()) {
            first.map("outer").delete(key(1));
            first.map("tails").delete(key(2));
            kernel.clearCommands();
            try (BpfObject second = forms().reuseMap("outer", first.map("outer"))
                    .reuseMap("tails", first.map("tails"))
                    .load()) {
                assertThat(first.map("outer").lookup(key(1))).isEmpty();
                assertThat(first.map("outer").lookup(key(3))).isPresent();
                // Programs of this object are of no use elsewhere.
                assertThat(second.map("tails").lookup(key(2))).isPresent();
            }
        }
    }

    @Test
    void aPinnedMapOfMapsKeepsWhatItHolds() {
        try (BpfObject first =
                forms().map("outer", map -> map.withPinByName(true)).load()) {
            first.map("outer").delete(key(3));
            try (BpfObject second =
                    forms().map("outer", map -> map.withPinByName(true)).load()) {
                assertThat(second.map("outer").lookup(key(3))).isEmpty();
                assertThat(second.map("outer").lookup(key(1))).isPresent();
            }
        }
    }

    @Test
    void aProgramThatIsNotLoadedCantBeInAMap() {
        assertThatThrownBy(() ->
                        forms().program("tail", p -> p.withAutoload(false)).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("slot 2")
                .hasMessageContaining("\"tails\"")
                .hasMessageContaining("\"tail\"")
                .hasMessageContaining("withSlots");
        assertThat(kernel.commands()).isEmpty();
        try (BpfObject loaded = forms().program("tail", p -> p.withAutoload(false))
                .map("tails", map -> map.withSlots(List.of()))
                .load()) {
            assertThat(loaded.map("tails").lookup(key(2))).isEmpty();
        }
    }

    @Test
    void whatAnEditPutsIntoAMapIsThere() {
        try (BpfObject loaded = forms().map("outer", map -> map.withSlots(List.of(new MapSpec.Slot(0, "second_inner"))))
                .load()) {
            assertThat(loaded.map("outer").lookup(key(0))).isPresent();
            assertThat(loaded.map("outer").lookup(key(3))).isEmpty();
        }
        for (String wrong : List.of("nothing", "tail")) {
            assertThatThrownBy(() -> forms().map("outer", map -> map.withSlots(List.of(new MapSpec.Slot(0, wrong))))
                            .load())
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("\"" + wrong + "\"")
                    .hasMessageContaining("not a map");
        }
    }
}
