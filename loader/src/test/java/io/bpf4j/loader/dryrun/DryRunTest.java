package io.bpf4j.loader.dryrun;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.dryrun.Fit.Finding;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.sys.kernel.ProgramType;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a kernel lacks is found by its BTF alone, and counts only where a program comes to it. Kernels made for it. */
class DryRunTest {
    private static final int SEQ_WRITE = 127;

    private final BtfBuilder kernel = BtfBuilder.create();
    private final int integer = kernel.integer("int", 4, BtfType.Int.SIGNED);
    private final int function = kernel.add(new BtfType.FuncProto(integer, List.of()));

    private final ObjectSpec edits = spec("edits.bpf.o");

    private static ObjectSpec spec(String name) {
        return ObjectSpec.parse(name, TestObjects.bytes(name));
    }

    private static ObjectSpec with(ObjectSpec spec, String program, UnaryOperator<ProgramSpec> edit) {
        return spec.withPrograms(Map.of(program, edit.apply(spec.program(program))));
    }

    private static ObjectSpec without(ObjectSpec spec, String map) {
        return spec.withMaps(Map.of(map, spec.map(map).withAutocreate(false)));
    }

    /** As the kernel has its numbers: an enumeration whose last member counts the others. */
    private void knows(String enumeration, String end, int... numbers) {
        Stream<EnumValue> values =
                IntStream.of(numbers).mapToObj(number -> new EnumValue(enumeration + "_" + number, number));
        kernel.add(new BtfType.Enum32(
                enumeration,
                4,
                false,
                Stream.concat(values, Stream.of(new EnumValue(end, 9999))).toList()));
    }

    private void knowsHelpers(int... numbers) {
        knows("bpf_func_id", "__BPF_FUNC_MAX_ID", numbers);
    }

    private void hasFunction(String name) {
        kernel.add(new BtfType.Func(name, function, 1));
    }

    private Fit fit(ObjectSpec object) {
        return DryRun.of(object, kernel());
    }

    private Btf kernel() {
        return kernel.build("made.btf", ByteOrder.LITTLE_ENDIAN);
    }

    private static Fit.Program program(Fit fit, String name) {
        return fit.programs().stream()
                .filter(program -> program.program().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aKernelThatSaysNothingIsTakenToHaveEverything() {
        Fit fit = fit(edits);
        assertThat(fit.fits()).isTrue();
        assertThat(fit.findings()).isEmpty();
        assertThat(program(fit, "guarded").fits()).isTrue();
        assertThat(program(fit, "guarded").instructions()).isNotEmpty();
    }

    @Test
    void aHelperThatIsNotThereCountsWhereAProgramComesToIt() {
        knowsHelpers(SEQ_WRITE);
        Fit fit = fit(edits);
        assertThat(program(fit, "guarded").fits())
                .as("a constant keeps it from there")
                .isTrue();
        assertThat(program(fit(edits.withGlobal("use_extra", true)), "guarded").findings())
                .as("another constant leads there")
                .extracting(Finding::problem)
                .containsExactly("the kernel has no helper bpf_map_lookup_elem");
        Finding finding = program(fit, "unguarded").findings().getFirst();
        assertThat(finding.kind()).isEqualTo(Finding.Kind.HELPER);
        assertThat(finding.problem()).isEqualTo("the kernel has no helper bpf_map_lookup_elem");
        assertThat(finding.location()).hasValueSatisfying(location -> {
            assertThat(location.function()).isEqualTo("unguarded");
            assertThat(location.source()).contains("edits.bpf.c:");
        });
        assertThat(fit.fits()).as("an optional program").isTrue();
        assertThat(fit(with(edits, "unguarded", p -> p.withAutoload(true))).fits())
                .isFalse();
    }

    @Test
    void theObjectOfALoaderIsJudgedWithItsEdits() {
        BpfLoader loader = BpfLoader.of(edits).map("extra", map -> map.withAutocreate(false));
        assertThat(fit(loader.spec()).fits()).isTrue();
        loader.global("use_extra", true);
        assertThat(program(fit(loader.spec()), "guarded").findings())
                .as("comes to a map that is left out")
                .extracting(Finding::problem)
                .singleElement(STRING)
                .contains("\"extra\"");
        loader.program("guarded", p -> p.withAutoload(false));
        assertThat(fit(loader.spec()).fits()).isTrue();
        assertThat(fit(edits.withGlobal("use_extra", true)).fits())
                .as("with its map")
                .isTrue();
    }

    @Test
    void aValueThatDoesNotFitItsVariable() {
        assertThat(fit(edits.withGlobal("use_extra", 300)).findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Finding.Kind.OBJECT);
                    assertThat(finding.problem()).contains("\"use_extra\"").contains("too few for 300");
                });
    }

    @Test
    void aMapTypeThatIsNotThereCountsUnlessTheMapIsLeftOut() {
        knows("bpf_map_type", "__MAX_BPF_MAP_TYPE", MapType.HASH.number());
        assertThat(fit(edits).findings())
                .extracting(Finding::kind, Finding::problem)
                .contains(tuple(Finding.Kind.MAP, "map \"extra\": the kernel has no maps of type ARRAY"));
        assertThat(fit(edits).fits()).isFalse();
        assertThat(fit(without(edits, "extra")).findings())
                .extracting(Finding::problem)
                .noneMatch(problem -> problem.contains("extra"));
    }

    @Test
    void aMapThatNoKernelMakes() {
        ObjectSpec empty = edits.withMaps(Map.of("extra", edits.map("extra").withMaxEntries(0)));
        assertThat(fit(empty).findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Finding.Kind.MAP);
            assertThat(finding.problem()).startsWith("map \"extra\" has max_entries 0: set it in the object");
        });
        assertThat(fit(empty).fits()).isFalse();
        assertThat(fit(without(empty, "extra")).fits())
                .as("a map that is left out")
                .isTrue();
    }

    @Test
    void symbolsAreThoseOfTheKernelsTable(@TempDir Path machine) throws IOException {
        Path types = Files.createDirectories(machine.resolve("sys/kernel/btf")).resolve("vmlinux");
        Files.write(types, kernel.toBytes(ByteOrder.LITTLE_ENDIAN));
        ScriptedHost.write(machine, "proc/kallsyms", "ffffffff81000000 T here\n");
        ScriptedHost.write(machine, "proc/sys/kernel/osrelease", "6.18.0\n");
        Host host = ScriptedHost.of(new ScriptedKernel(), machine);
        ObjectSpec object = ScriptedLoads.spec(
                "test.o",
                List.of(),
                List.of(
                        Specs.extern(ExternSpec.Kind.KSYM, "here", false, 0, 0),
                        Specs.extern(ExternSpec.Kind.KSYM, "gone", false, 0, 0),
                        Specs.extern(ExternSpec.Kind.KSYM, "optional", true, 0, 0)),
                BtfBuilder.create().build("test.o", ByteOrder.LITTLE_ENDIAN));
        assertThat(DryRun.ofKernel(object, host).findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Finding.Kind.SYMBOL);
            assertThat(finding.problem()).contains("needs the symbol gone in /proc/kallsyms");
        });
        assertThat(fit(object).findings()).as("the table of another kernel").isEmpty();
    }

    @Test
    void aMapThatIsLeftOutCountsWhereAProgramComesToIt() {
        Fit fit = fit(without(edits, "extra"));
        assertThat(program(fit, "guarded").fits()).isTrue();
        assertThat(program(fit, "unguarded").findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Finding.Kind.MAP);
            assertThat(finding.problem()).isEqualTo("map \"extra\" was left out");
            assertThat(finding.location()).isPresent();
        });
    }

    @Test
    void aProgramTypeThatIsNotThere() {
        knows("bpf_prog_type", "__MAX_BPF_PROG_TYPE", ProgramType.XDP.number());
        assertThat(program(fit(edits), "guarded").findings())
                .extracting(Finding::kind, Finding::problem)
                .containsExactly(tuple(Finding.Kind.PROGRAM, "the kernel has no programs of type SOCKET_FILTER"));
    }

    @Test
    void anAttachTypeThatIsNotThere() {
        knows("bpf_attach_type", "__MAX_BPF_ATTACH_TYPE", AttachType.CGROUP_INET_INGRESS.number());
        ObjectSpec egress = with(
                edits,
                "guarded",
                p -> p.withType(ProgramType.CGROUP_SKB).withAttachType(AttachType.CGROUP_INET_EGRESS));
        assertThat(program(fit(egress), "guarded").findings())
                .extracting(Finding::problem)
                .containsExactly("the kernel has no attach type CGROUP_INET_EGRESS");
    }

    @Test
    void aSectionThatSaysNoType() {
        assertThat(program(fit(edits), "nameless").findings())
                .extracting(Finding::problem)
                .containsExactly("SEC(\"anything/at/all\") is not a known section name, so the program has no type");
    }

    @Test
    void whatAProgramIsForHasToBeThere() {
        hasFunction("bpf_iter_task");
        kernel.struct("bpf_iter_meta", 24, BtfType.Member.at("seq", kernel.pointer(0), 0));
        assertThat(program(fit(with(edits, "each", p -> p.withTarget("task"))), "each")
                        .fits())
                .isTrue();
        assertThat(program(fit(with(edits, "each", p -> p.withTarget("nothing"))), "each")
                        .findings())
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.kind()).isEqualTo(Finding.Kind.TARGET);
                    assertThat(finding.problem()).contains("bpf_iter_nothing");
                });
    }

    @Test
    void aModuleHasWhatTheKernelLacks() {
        kernel.struct("bpf_iter_meta", 24, BtfType.Member.at("seq", kernel.pointer(0), 0));
        Btf vmlinux = kernel();
        BtfBuilder module = BtfBuilder.split(vmlinux);
        module.add(new BtfType.Func("bpf_iter_task", function, 1));
        ObjectSpec object = with(edits, "each", p -> p.withTarget("task"));
        assertThat(program(DryRun.of(object, vmlinux), "each").fits()).isFalse();
        assertThat(program(DryRun.of(object, vmlinux, module.build("tasks", ByteOrder.nativeOrder())), "each")
                        .fits())
                .isTrue();
    }

    @Test
    void aTypeThatIsNotThereIsARelocation() {
        hasFunction("bpf_iter_task");
        Fit.Program each = program(fit(with(edits, "each", p -> p.withTarget("task"))), "each");
        assertThat(each.findings()).singleElement().satisfies(finding -> {
            assertThat(finding.kind()).isEqualTo(Finding.Kind.RELOCATION);
            assertThat(finding.problem()).contains("struct bpf_iter_meta");
        });
        assertThat(each.relocations()).singleElement().satisfies(relocation -> {
            assertThat(relocation.isResolved()).isFalse();
            assertThat(relocation).hasToString(relocation.question() + ": missing");
        });
    }

    @Test
    void aFunctionOfTheKernelThatIsNotThere() {
        // The call was replaced by an invalid instruction, which must not be reported as a missing helper.
        knowsHelpers(IntStream.rangeClosed(1, 211).toArray());
        ObjectSpec kfuncs = spec("corpus/kfuncs.bpf.o");
        Fit fit = fit(kfuncs);
        assertThat(fit.fits()).isFalse();
        assertThat(Stream.concat(
                                fit.findings().stream(),
                                fit.programs().stream().flatMap(program -> program.findings().stream()))
                        .filter(finding -> finding.kind() == Finding.Kind.SYMBOL))
                .isNotEmpty();
        assertThat(fit.programs())
                .flatExtracting(Fit.Program::findings)
                .extracting(Finding::kind)
                .as("it is told as a function alone")
                .doesNotContain(Finding.Kind.HELPER);
    }

    @Test
    void anObjectOfTheOtherByteOrderFitsNowhere() {
        Fit fit = DryRun.of(edits, kernel.build("big.btf", ByteOrder.BIG_ENDIAN));
        assertThat(fit.fits()).isFalse();
        assertThat(fit.programs()).isEmpty();
        assertThat(fit.findings())
                .singleElement()
                .satisfies(finding -> assertThat(finding.kind()).isEqualTo(Finding.Kind.OBJECT));
    }

    @Test
    void mapsStandInTheCodeByTheirIndex() {
        MapSpec extra = edits.map("extra");
        int number = edits.maps().indexOf(extra) + 1;
        assertThat(program(fit(edits), "unguarded").instructions())
                .filteredOn(instruction -> instruction.isLoadImm64())
                .extracting(instruction -> instruction.imm())
                .contains(number);
    }
}
