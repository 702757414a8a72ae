package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.TestObject;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Feature;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Plans are read as they are: no kernel has been asked for anything. */
class LoadPlanTest {
    private final ScriptedKernel kernel = new ScriptedKernel();

    @AfterEach
    void theKernelWasAskedForNothing() {
        assertThat(kernel.commands()).isEmpty();
    }

    private LoadPlan plan(ObjectSpec spec, Feature... without) {
        return LoadPlan.of(
                spec,
                new LoadOptions(),
                new TargetKernel(
                        kernel.host(),
                        ScriptedLoads.everything().without(without),
                        CoreTarget.of(spec.btf().orElseThrow())));
    }

    private static MapPlan map(LoadPlan plan, String name) {
        return plan.maps().stream()
                .filter(map -> map.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void mapsHaveTheirFirstBytesAndWhatTheKernelCallsThem() {
        ObjectSpec spec = ScriptedLoads.spec("globals.bpf.o")
                .withGlobal("set_before_load", new byte[] {(byte) 0xc7, (byte) 0xcf});
        LoadPlan plan = plan(spec);
        plan.requireNoProblems();
        assertThat(plan.btf()).isPresent();
        assertThat(map(plan, ".bss").initial()).as("zeroes are there anyway").isNull();
        MapPlan constants = map(plan, ".rodata");
        assertThat(constants.frozen()).isTrue();
        assertThat(constants.kernelName()).isEqualTo("globals.rodata");
        byte[] initial = constants.initial();
        assertThat(initial).isNotNull();
        ByteBuffer bytes = ByteBuffer.wrap(initial).order(ByteOrder.nativeOrder());
        assertThat(bytes.getShort(spec.global("set_before_load").offset())).isEqualTo((short) 0xcfc7);
        assertThat(bytes.getLong(spec.global("constant").offset())).isEqualTo(0x1122334455667788L);
        assertThat(map(plan, ".data").frozen()).isFalse();
    }

    @Test
    void anOlderKernelGetsWhatItTakes() {
        ObjectSpec spec = ScriptedLoads.spec("globals.bpf.o");
        LoadPlan plan = plan(spec, Feature.BTF, Feature.MMAPABLE_ARRAY, Feature.MAP_FREEZE, Feature.OBJECT_NAMES);
        plan.requireNoProblems();
        assertThat(plan.btf()).isEmpty();
        assertThat(map(plan, ".rodata").frozen()).isFalse();
        assertThat(plan.maps()).allSatisfy(map -> {
            assertThat(map.kernelName()).isEmpty();
            assertThat(map.spec().flags() & MapSpec.F_MMAPABLE).isZero();
        });
    }

    @Test
    void aRingIsOfWholePages() {
        ObjectSpec spec = ScriptedLoads.spec("maps.bpf.o");
        MapSpec ring = spec.map("ring").withMaxEntries(5000);
        assertThat(map(plan(spec.withMaps(Map.of("ring", ring))), "ring").spec().maxEntries())
                .isEqualTo(8192);
    }

    @Test
    void aRingWithoutSizeIsRefusedWithAdviceForItsPlace() {
        ObjectSpec spec = ScriptedLoads.spec("maps.bpf.o");
        MapSpec ring = spec.map("ring").withMaxEntries(0);
        assertThat(plan(spec.withMaps(Map.of("ring", ring))).problems())
                .extracting(problem -> problem.failure().getMessage())
                .contains("maps.bpf.o: ring buffer \"ring\" has size 0; set its max_entries, in bytes");
        ObjectSpec forms = ScriptedLoads.spec("forms.bpf.o");
        MapSpec holder = forms.maps().stream()
                .filter(map -> map.inner() != null)
                .findFirst()
                .orElseThrow();
        assertThat(plan(forms.withMaps(Map.of(holder.name(), holder.withInner(ring))))
                        .problems())
                .extracting(problem -> problem.failure().getMessage())
                .contains("forms.bpf.o: ring buffer \"ring\" has size 0; set its max_entries, in bytes, or give \""
                        + holder.name() + "\" another definition by MapSpec.withInner");
    }

    @Test
    void instructionsNameTheMapWhoseDescriptorTheyTake() {
        ObjectSpec spec = ScriptedLoads.spec("globals.bpf.o");
        AssembledProgram code = plan(spec).programs().getFirst().code().orElseThrow();
        assertThat(code.uses()).isNotEmpty().allSatisfy(use -> {
            Instruction load = code.instructions().get(use.slot());
            assertThat(load.src()).isEqualTo(Opcodes.PSEUDO_MAP_VALUE);
            assertThat(use.of())
                    .isEqualTo(new AssembledProgram.Referent.Map(
                            spec.maps().get(load.imm() - 1).name()));
        });
    }

    /** The kernel gets the instruction that it gets from libbpf, which has the number of what is missing. */
    @Test
    void theNumberOfWhatIsMissingIsInTheInstruction() {
        TestObject object = new TestObject();
        object.map("first", object.number("type", 2), object.number("max_entries", 1));
        int second = object.map("second", object.number("type", 2), object.number("max_entries", 1));
        object.extern(".kconfig", "CONFIG_X", object.integer, true);
        int missing = object.extern(".ksyms", "missing", object.integer, true);
        object.extern(".ksyms", "absent", object.integer, true);
        Instruction call = new Instruction(Opcodes.JMP | Opcodes.CALL, 0, 1, 0, -1);
        Instruction load = new Instruction(0x18, 1, 0, 0, 0);
        int code = object.program(
                "socket", "main", load, new Instruction(0, 0, 0, 0, 0), call, new Instruction(0x95, 0, 0, 0, 0));
        object.relocation(code, 0, second);
        object.relocation(code, 16, missing);
        ObjectSpec read = object.parse();
        ObjectSpec spec = read.withMaps(Map.of("second", read.map("second").withAutocreate(false)));
        CoreTarget none = CoreTarget.of(new TestObject().parse().btf().orElseThrow());
        LoadPlan plan =
                LoadPlan.of(spec, new LoadOptions(), new TargetKernel(kernel.host(), ScriptedLoads.everything(), none));
        AssembledProgram program = plan.programs().getFirst().code().orElseThrow();
        // The object has one map before this map, and two externs before this extern: CONFIG_X and "absent".
        assertThat(program.instructions())
                .extracting(Instruction::imm)
                .containsExactly(2_001_000_001, 2_001_000_001, 2_002_000_002, 0);
        assertThat(program.poisoned())
                .extracting(AssembledProgram.Poisoned::slot, AssembledProgram.Poisoned::subject)
                .containsExactly(tuple(0, "second"), tuple(2, "missing"));
    }

    @Test
    void oneProblemDoesNotHideTheNext() {
        ObjectSpec forms = ScriptedLoads.spec("forms.bpf.o");
        MapSpec holder = forms.maps().stream()
                .filter(map -> map.inner() != null && !map.slots().isEmpty())
                .findFirst()
                .orElseThrow();
        ObjectSpec spec = forms.withMaps(Map.of(
                holder.name(),
                holder.withSlots(List.of(new MapSpec.Slot(0, "nothing_like_it"), new MapSpec.Slot(1, "nor_like_it")))));
        LoadPlan plan = plan(spec);
        assertThat(plan.problems())
                .extracting(LoadPlan.Problem::kind, problem -> problem.failure().getMessage())
                .containsExactly(
                        tuple(
                                Finding.Kind.MAP,
                                "forms.bpf.o: map \"" + holder.name()
                                        + "\" contains \"nothing_like_it\", which is not a map"),
                        tuple(
                                Finding.Kind.MAP,
                                "forms.bpf.o: map \"" + holder.name()
                                        + "\" contains \"nor_like_it\", which is not a map"));
        assertThat(plan.programs()).as("planned all the same").isNotEmpty();
        assertThatThrownBy(plan::requireNoProblems)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("nothing_like_it");
    }

    @Test
    void aProgramWithoutTypeCostsNoMap() {
        ObjectSpec spec = ScriptedLoads.spec("edits.bpf.o");
        BpfLoader loader = BpfLoader.of(spec)
                .host(kernel.host())
                .features(ScriptedLoads.everything())
                .program("nameless", p -> p.withAutoload(true));
        assertThatThrownBy(loader::load)
                .isInstanceOf(InvalidObjectException.class)
                .hasMessageContaining("a section name without a known program type");
    }

    @Test
    void ofAKernelElsewhereOnlyTypesAreKnown() {
        ObjectSpec spec = ScriptedLoads.spec("kconfig.bpf.o");
        LoadPlan plan = LoadPlan.of(
                spec,
                new LoadOptions(),
                TargetKernel.ofTypes(CoreTarget.of(spec.btf().orElseThrow()), null));
        assertThat(plan.btf()).isEmpty();
        assertThat(map(plan, ".kconfig").initial()).isNull();
    }
}
