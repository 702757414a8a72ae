package io.bpf4j.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.elf.ByteView;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Instructions;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.loader.error.UnsupportedFeatureException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.MapCommand;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The load transaction over a scripted kernel: what is asked of it, and what is left open when it refuses. */
class BpfLoaderTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    private BpfLoader loader(String object) {
        return ScriptedLoads.loader(kernel, ScriptedLoads.spec(object));
    }

    @Test
    void descriptorsAndOffsetsStandInTheCode() {
        try (BpfObject loaded = loader("globals.bpf.o").load()) {
            ProgCommand.Load load = kernel.commands(ProgCommand.Load.class).getFirst();
            List<Instruction> code =
                    Instructions.decode(ByteView.of("code", load.instructions(), ByteOrder.nativeOrder()));

            assertThat(code.stream().filter(i -> i.isLoadImm64() && i.src() == Opcodes.PSEUDO_MAP_VALUE))
                    .isNotEmpty()
                    .allSatisfy(i -> assertThat(i.imm()).isGreaterThanOrEqualTo(1000));
            assertThat(load.instructionFds()).hasSizeGreaterThanOrEqualTo(3);
            assertThat(load.types().functions().count()).isPositive();
            assertThat(load.types().lines().count()).isPositive();
            assertThat(loaded.maps()).hasSize(loaded.spec().maps().size());
        }
    }

    @Test
    void subprogramsAreAppendedOnceAndCallsLeadThere() {
        try (BpfObject loaded = loader("calls.bpf.o").load()) {
            for (ProgCommand.Load load : kernel.commands(ProgCommand.Load.class)) {
                List<Instruction> code =
                        Instructions.decode(ByteView.of("code", load.instructions(), ByteOrder.nativeOrder()));
                ByteBuffer info =
                        ByteBuffer.wrap(load.types().functions().records()).order(ByteOrder.nativeOrder());
                List<Integer> starts = new java.util.ArrayList<>();
                for (int i = 0; i < load.types().functions().count(); i++) {
                    starts.add(info.getInt(i * 8));
                }
                assertThat(starts).isSorted().doesNotHaveDuplicates().startsWith(0);
                for (int i = 0; i < code.size(); i++) {
                    if (code.get(i).isSubprogramCall()) {
                        assertThat(starts).contains(i + 1 + code.get(i).imm());
                    }
                }
            }
            assertThat(loaded.programs()).hasSize(2);
        }
    }

    @Test
    void readOnlyDataIsSetThenFrozen() {
        ObjectSpec spec = ScriptedLoads.spec("globals.bpf.o");
        try (BpfObject loaded = ScriptedLoads.loader(kernel, spec)
                .global("set_before_load", (short) -12345)
                .global("text", "other")
                .global("pair_in.small", 9)
                .global("pair_in", new byte[16])
                .global("pair_in.large", 10)
                .load()) {
            byte[] rodata = loaded.map(".rodata").lookup(new byte[4]).orElseThrow();

            int offset = spec.global("set_before_load").offset();
            assertThat(ByteBuffer.wrap(rodata).order(ByteOrder.nativeOrder()).getShort(offset))
                    .isEqualTo((short) -12345);
            assertThat(rodata[spec.global("pair_in.small").offset()])
                    .as("the whole struct was set later")
                    .isZero();
            assertThat(ByteBuffer.wrap(rodata)
                            .order(ByteOrder.nativeOrder())
                            .getLong(spec.global("pair_in.large").offset()))
                    .isEqualTo(10);
            int text = spec.global("text").offset();
            assertThat(new String(rodata, text, 5, java.nio.charset.StandardCharsets.UTF_8))
                    .isEqualTo("other");
            assertThat(kernel.commands(MapCommand.Freeze.class)).hasSizeGreaterThanOrEqualTo(2);
        }
    }

    @Test
    void valuesThatDoNotFitAreRefused() {
        assertThatThrownBy(() -> loader("globals.bpf.o").global("one_byte", 256).load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("one_byte");
        assertThatThrownBy(() ->
                        loader("globals.bpf.o").global("text", "much too long").load())
                .isInstanceOf(InvalidObjectException.class);
        assertThatThrownBy(() -> loader("globals.bpf.o").global("no_such", 1))
                .isInstanceOf(UnknownNameException.class)
                .hasMessageContaining("no global variable 'no_such' in globals.bpf.o; there are ");
        assertThatThrownBy(() -> loader("globals.bpf.o")
                        .global("one_byte", Codec.ofInt(), 1)
                        .load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("global variable \"one_byte\" has 1 bytes, but the codec has 4");
    }

    @Test
    void ringSizesAreRoundedUpAndEditsApply() {
        try (BpfObject loaded = loader("maps.bpf.o")
                .map("ring", map -> map.withMaxEntries(5000))
                .map("hash", map -> map.withMaxEntries(7))
                .load()) {
            MapCommand.Create ring = kernel.commands(MapCommand.Create.class).stream()
                    .filter(c -> c.type() == MapType.RINGBUF.number())
                    .findFirst()
                    .orElseThrow();
            assertThat(ring.maxEntries()).isEqualTo(8192);
            assertThat(loaded.map("hash").maxEntries()).isEqualTo(7);
        }
    }

    @Test
    void withoutBtfOfFunctionsTheProgramsLoadPlain() {
        try (BpfObject loaded = ScriptedLoads.loader(kernel, ScriptedLoads.spec("maps.bpf.o"))
                .features(ScriptedLoads.everything().without(Feature.BTF_FUNC, Feature.BTF_DATASEC))
                .load()) {
            assertThat(loaded.programs()).isNotEmpty();
            assertThat(kernel.commands(ProgCommand.Load.class))
                    .allSatisfy(
                            load -> assertThat(load.types().functions().count()).isZero());
        }
    }

    @Test
    void aProcessWithoutRightsIsNotToldThatItsKernelIsOld() {
        kernel.fail(MapCommand.Create.class, Errno.EPERM);
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, ScriptedLoads.spec("globals.bpf.o"))
                        .features(Features.of(kernel.host()))
                        .load())
                .isInstanceOf(SyscallException.class)
                .hasMessageContaining("EPERM");
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void globalDataNeedsAKernelThatHasIt() {
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, ScriptedLoads.spec("globals.bpf.o"))
                        .features(ScriptedLoads.everything().without(Feature.GLOBAL_DATA))
                        .load())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("5.2");
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void mapsMayBeReusedAndStayTheirOwners() {
        try (BpfObject first = loader("maps.bpf.o").load()) {
            try (BpfObject second =
                    loader("maps.bpf.o").reuseMap("hash", first.map("hash")).load()) {
                assertThat(second.map("hash").id()).isEqualTo(first.map("hash").id());
            }
            assertThat(first.map("hash").isClosed()).isFalse();
            assertThatThrownBy(() -> loader("maps.bpf.o")
                            .reuseMap("hash", first.map("array"))
                            .load())
                    .isInstanceOf(InvalidObjectException.class)
                    .hasMessageContaining("hash");
        }
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aCopyForAnotherAttachTypeIsMadeOnce() {
        try (BpfObject loaded = loader("globals.bpf.o").load()) {
            Program program = loaded.programs().iterator().next();
            Program copy = program.forAttachType(AttachType.TRACE_UPROBE_MULTI);

            assertThat(copy.attachType()).contains(AttachType.TRACE_UPROBE_MULTI);
            assertThat(program.forAttachType(AttachType.TRACE_UPROBE_MULTI)).isSameAs(copy);
            assertThat(program.withoutAttachType()).isSameAs(program);
        }
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void aLoaderLoadsOnceAndAClosedObjectSaysSo() {
        BpfLoader loader = loader("maps.bpf.o");
        BpfObject loaded = loader.load();
        assertThatThrownBy(loader::load).isInstanceOf(IllegalStateException.class);
        loaded.close();
        loaded.close();
        assertThatThrownBy(() -> loaded.global("runs")).isInstanceOf(IllegalStateException.class);
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void mapsInMapsAndProgramsInMapsAreSet() {
        try (BpfObject loaded = loader("forms.bpf.o").load()) {
            assertThat(loaded.programs().stream().map(Program::name)).containsExactly("tail", "forms");
            assertThat(kernel.commands(MapCommand.Create.class).stream()
                            .filter(c -> c.type() == MapType.ARRAY_OF_MAPS.number()))
                    .allSatisfy(c -> assertThat(c.inner()).isNotNull());
            ByteBuffer key = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder());
            assertThat(loaded.map("outer").lookup(key.putInt(0, 3).array())).isPresent();
            assertThat(loaded.map("outer").lookup(key.putInt(0, 1).array())).isPresent();
            assertThat(loaded.map("tails").lookup(key.putInt(0, 2).array())).isPresent();
        }
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void anOptionalProgramLoadsIfAskedForWithItsCallback() {
        try (BpfObject loaded = loader("forms.bpf.o")
                .program("callback", p -> p.withAutoload(true))
                .load()) {
            assertThat(loaded.program("callback").name()).isEqualTo("callback");
            ProgCommand.Load load = kernel.commands(ProgCommand.Load.class).getLast();
            List<Instruction> code =
                    Instructions.decode(ByteView.of("code", load.instructions(), ByteOrder.nativeOrder()));
            // 11 slots of the program, then the callback: from slot 5, 5 behind the next one.
            assertThat(code.stream().filter(Instruction::isSubprogramAddress))
                    .singleElement()
                    .satisfies(i -> assertThat(i.imm()).isEqualTo(5));
            assertThat(load.types().functions().count()).isEqualTo(2);
        }
    }

    @Test
    void aMapWithoutRoomSaysHowToGiveItSome() {
        kernel.fail(command -> command instanceof MapCommand.Create c && c.maxEntries() == 0, Errno.EINVAL);

        assertThatThrownBy(() -> loader("maps.bpf.o")
                        .map("hash", map -> map.withMaxEntries(0))
                        .load())
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("\"hash\"")
                .hasMessageContaining("withMaxEntries");
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void whatTheKernelDoesNotKnowIsNamed() {
        kernel.fail(
                command -> command instanceof MapCommand.Create c && c.type() == MapType.RINGBUF.number(),
                Errno.EINVAL);
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, ScriptedLoads.spec("maps.bpf.o"))
                        .features(ScriptedLoads.everything().without(Feature.RING_BUFFER))
                        .load())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("5.8");

        kernel.answer(
                ProgCommand.Load.class,
                load -> load.attachment().type() == AttachType.TRACE_UPROBE_MULTI.number()
                        ? ScriptedKernel.refused(Errno.EINVAL, "")
                        : new LoadResult.Loaded(kernel.newFd("program"), ""));
        assertThatThrownBy(() -> ScriptedLoads.loader(kernel, ScriptedLoads.spec("links.bpf.o"))
                        .features(ScriptedLoads.everything().without(Feature.UPROBE_MULTI_LINK))
                        .load())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("6.6");
        assertThat(kernel.open()).isEmpty();
    }

    @Test
    void anOlderKernelGetsTheHelpersThatItHas() {
        try (BpfObject loaded = ScriptedLoads.loader(kernel, ScriptedLoads.spec("trace.bpf.o"))
                .features(ScriptedLoads.everything().without(Feature.PROBE_READ_KERNEL))
                .program("count_exec", program -> program.withAutoload(false)) // it reads no memory
                .load()) {
            assertThat(loaded.programs()).isNotEmpty();
            assertThat(kernel.commands(ProgCommand.Load.class).stream()
                            .flatMap(load ->
                                    Instructions.decode(
                                            ByteView.of("code", load.instructions(), ByteOrder.nativeOrder()))
                                            .stream())
                            .filter(Instruction::isHelperCall)
                            .map(Instruction::imm))
                    .doesNotContain(112, 113, 114, 115)
                    .containsAnyOf(4, 45);
        }
    }

    /** Only the variables of the header are set: two constants of 64 bits. */
    @ParameterizedTest
    @CsvSource({".rodata, 8, true", ".rodata, 4, false", ".bss, 8, false"})
    void variablesWithTheNamesOfTheHeaderMayBeAnothers(String section, int size, boolean set, @TempDir Path root)
            throws IOException {
        Files.createDirectories(root.resolve("proc/self/ns"));
        Files.createFile(root.resolve("proc/self/ns/pid"));
        DataSection data = Specs.section(
                section,
                3,
                2 * size,
                section.equals(".rodata"),
                Specs.variable("pidns_device", section, 0, size, 0, 0),
                Specs.variable("pidns_inode", section, size, size, 0, 0));
        ObjectSpec spec = Specs.object(
                "names",
                ByteOrder.nativeOrder(),
                List.of(),
                List.of(),
                List.of(Specs.map(data, 0)),
                List.of(),
                Optional.empty());
        try (BpfObject loaded = ScriptedLoads.loader(kernel, spec)
                .host(Host.at(root).with(Kernel.class, kernel))
                .load()) {
            assertThat(loaded.spec().changedGlobals())
                    .isEqualTo(set ? Set.of("pidns_device", "pidns_inode") : Set.of());
        }
    }
}
