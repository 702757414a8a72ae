package io.bpf4j.test.loader;

import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.CORPUS;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.core.CoreRelocationKind;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.spec.CodeReference;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.SectionKind;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.objects.TestObjects;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requirement;
import io.bpf4j.test.support.Requires;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;

/**
 * The corpus: for every kind of map, program, relocation and extern a small program that uses it and checks what came
 * of it. Each is loaded by itself, run or attached, and found nothing wrong; or it names the line of C that did not
 * hold.
 */
@Requires({BPF, CORPUS, KERNEL_BTF})
@Timeout(300)
class CorpusTest {
    /** Kinds without a program here. */
    private static final Map<ProgramType, String> NO_PROGRAM = Map.of(ProgramType.UNSPEC, "the kernel's word for none");

    private static final Map<String, String> NO_SECTION =
            Map.of("struct_ops.s", "the kernel's members that may sleep are those of devices and schedulers");

    @TestFactory
    Stream<DynamicContainer> everyProgramFindsNothingWrong() {
        return TestObjects.corpus().stream().map(name -> {
            ObjectSpec spec = Bpf.spec(name);
            return DynamicContainer.dynamicContainer(
                    name,
                    spec.programs().stream()
                            .map(program ->
                                    DynamicTest.dynamicTest(program.name(), () -> findsNothingWrong(spec, program))));
        });
    }

    private static void findsNothingWrong(ObjectSpec spec, ProgramSpec program) throws Exception {
        CorpusTrial trial = CorpusTrials.of(spec.source(), program);
        Requirement.insistOn(trial.needs());
        Map<String, Integer> before = LeakCheck.open();
        BpfLoader loader = BpfLoader.of(spec).program(program.name(), p -> p.withAutoload(true));
        trial.before().accept(loader);
        int line;
        try (BpfObject object = loader.load()) {
            line = trial.run().failedLine(object, object.program(program.name()));
        }
        assertThat(line)
                .as(
                        "%s:%d, a check of program %s failed",
                        spec.source().replace(".bpf.o", ".bpf.c"), line, program.name())
                .isZero();
        LeakCheck.assertNothingMoreOpenThan(before);
    }

    private static List<ObjectSpec> specs() {
        return Stream.concat(TestObjects.corpus().stream(), TestObjects.names().stream())
                .map(Bpf::spec)
                .toList();
    }

    @Test
    void everyKindOfMapHasAMember() {
        Set<MapType> there = specs().stream()
                .flatMap(spec -> spec.maps().stream())
                .map(MapSpec::type)
                .flatMap(Optional::stream)
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(MapType.class)));
        if (specs().stream().anyMatch(spec -> !spec.structOps().isEmpty())) {
            there.add(MapType.STRUCT_OPS);
        }
        if (specs().stream().anyMatch(CorpusTest::hasJumpTables)) {
            there.add(MapType.INSN_ARRAY);
        }
        assertThat(there).containsExactlyInAnyOrder(MapType.values());
    }

    /** Their maps are made from code, and are not in the list of maps. */
    private static boolean hasJumpTables(ObjectSpec spec) {
        return spec.functions().stream()
                .flatMap(function -> function.references().stream())
                .anyMatch(CodeReference.ToJumpTable.class::isInstance);
    }

    @Test
    void everyKindOfProgramHasAMember() {
        Set<ProgramType> there = specs().stream()
                .flatMap(spec -> spec.programs().stream())
                .map(ProgramSpec::type)
                .filter(type -> !NO_PROGRAM.containsKey(type))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(ProgramType.class)));
        assertThat(there)
                .as("with the exceptions " + NO_PROGRAM)
                .containsExactlyInAnyOrderElementsOf(Arrays.stream(ProgramType.values())
                        .filter(type -> !NO_PROGRAM.containsKey(type))
                        .toList());
    }

    @Test
    void everyKindOfRelocationHasAMember() {
        Set<CoreRelocationKind> there = TestObjects.corpus().stream()
                .map(Bpf::spec)
                .flatMap(spec -> spec.btfExt().stream())
                .flatMap(ext -> ext.relocations().sections().stream())
                .flatMap(section -> section.records().stream())
                .map(relocation -> CoreRelocationKind.of(relocation.kind()).orElseThrow())
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(CoreRelocationKind.class)));
        assertThat(there).containsExactlyInAnyOrder(CoreRelocationKind.values());
    }

    @Test
    void everyKindOfExternHasAMember() {
        assertThat(TestObjects.corpus().stream()
                        .flatMap(name -> Bpf.spec(name).externs().stream())
                        .map(ExternSpec::kind))
                .contains(ExternSpec.Kind.values());
    }

    /** Of any of our objects. What kernels have not yet, and what libbpf therefore does not know, has a reason. */
    @Test
    void everyNameOfASectionHasAMember() {
        Set<String> there = specs().stream()
                .flatMap(spec -> spec.programs().stream())
                .flatMap(program -> program.kind().stream())
                .map(SectionKind::name)
                .collect(Collectors.toSet());
        assertThat(SectionKind.all())
                .extracting(SectionKind::name)
                .filteredOn(name -> !there.contains(name))
                .as("without a program")
                .isSubsetOf(NO_SECTION.keySet());
    }

    @Test
    void whatIsSaidOfAProgramIsSaidOfOneThatIsThere() {
        Set<String> programs = TestObjects.corpus().stream()
                .flatMap(name -> Bpf.spec(name).programs().stream().map(program -> name + ":" + program.name()))
                .collect(Collectors.toSet());
        assertThat(programs).containsAll(CorpusTrials.programs());
        assertThat(TestObjects.corpus()).containsAll(CorpusTrials.objects());
    }
}
