package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.FENTRY;
import static io.bpf4j.test.support.Requirement.KERNEL_BTF;
import static io.bpf4j.test.support.Requirement.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.DryRun;
import io.bpf4j.loader.Maps;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.dryrun.Fit;
import io.bpf4j.loader.link.Iter;
import io.bpf4j.loader.link.IteratorLink;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** One program for many functions, and what can be done with maps and instructions before anything is loaded. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
class CopiedProgramsOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    @Test
    @Requires({FENTRY, X86_64})
    void oneProgramIsLoadedForManyFunctions() throws Throwable {
        ObjectSpec spec = Bpf.spec("kernel.bpf.o");
        ProgramSpec entry = spec.program("on_entry").withAutoload(true);
        for (String call : List.of("getpgid", "getsid")) {
            spec = spec.withProgram(entry.withName("on_" + call).withTarget("__x64_sys_" + call));
        }
        int self = (int) ProcessHandle.current().pid();
        try (BpfObject object = Bpf.only(BpfLoader.of(spec), self).load();
                LinkGroup links = object.attachAll()) {
            assertThat(object.programs()).hasSize(2);
            assertThat(object.program("on_getsid").info().name()).isEqualTo("on_getsid");
            assertThat(links.links()).hasSize(2);
            call("getpgid", 3);
            assertThat(Bpf.u64(object, "hits")).isEqualTo(3);
            call("getsid", 2);
            assertThat(Bpf.u64(object, "hits")).as("of both").isEqualTo(5);
        }
    }

    /** An iterator is loaded for what it is to list, as {@code fentry} is for its function. */
    @Test
    @Requires(KERNEL_BTF)
    void oneIteratorIsLoadedForManyKindsOfObjects() throws IOException {
        ObjectSpec spec = Bpf.spec("edits.bpf.o");
        ProgramSpec each = spec.program("each").withAutoload(true);
        spec = spec.withProgram(each.withName("maps").withTarget("bpf_map"))
                .withProgram(each.withName("programs").withTarget("bpf_prog"));
        try (BpfObject object = BpfLoader.of(spec).load()) {
            assertThat(object.findProgram("each")).isEmpty();
            for (String name : List.of("maps", "programs")) {
                try (IteratorLink link = object.program(name).attach(Iter.all());
                        InputStream listed = link.open()) {
                    assertThat(listed.readAllBytes()).as(name).hasSizeGreaterThan(1);
                    assertThat(object.program(name).info().name()).isEqualTo(name);
                }
            }
        }
    }

    /** Only this test makes these calls in this process. */
    @SuppressWarnings("restricted") // the library asks the kernel each time
    private static void call(String function, int times) throws Throwable {
        Linker linker = Linker.nativeLinker();
        MethodHandle handle = linker.downcallHandle(
                linker.defaultLookup().findOrThrow(function),
                FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
        for (int i = 0; i < times; i++) {
            assertThat((int) handle.invokeExact(0)).isNotNegative();
        }
    }

    @Test
    void aCopyNeedsAnotherName() {
        ObjectSpec spec = Bpf.spec("edits.bpf.o");
        ProgramSpec guarded = spec.program("guarded");
        assertThatThrownBy(() -> spec.withProgram(guarded))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("already has a program \"guarded\"");
        ObjectSpec copied = spec.withProgram(guarded.withName("again"));
        assertThat(copied.functions()).isEqualTo(spec.functions());
        try (BpfObject object = BpfLoader.of(copied).load()) {
            assertThat(object.program("again").test(PACKET).returned()).isEqualTo(7);
        }
    }

    /** Returns the first value of a table. */
    private static ObjectSpec reader() {
        Assembler code = Assembler.create()
                .st(4, R10, -4, 0)
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .loadMap(R1, "table")
                .call("bpf_map_lookup_elem")
                .jump(Opcodes.JEQ, R0, 0, "out")
                .ldx(4, R0, R0, 0)
                .label("out")
                .exit();
        return ObjectSpec.of("reader")
                .withMap(MapSpec.of("table", MapType.ARRAY, 4, 4, 1))
                .withProgram(ProgramSpec.of("socket", FunctionSpec.of("first", code)));
    }

    @Test
    void aMapIsMadeAndFilledBeforeTheProgramsAreLoaded() {
        ObjectSpec spec = reader();
        try (BpfMap table = Maps.create(spec.map("table"))) {
            TypedMap.of(table, Codec.ofInt(), Codec.ofInt()).put(0, 42);
            try (BpfObject object = BpfLoader.of(spec).reuseMap("table", table).load()) {
                assertThat(object.program("first").test(PACKET).returned()).isEqualTo(42);
            }
        }
    }

    @Test
    @Requires(KERNEL_BTF)
    void instructionsAreRelocatedWithoutALoad() {
        ObjectSpec spec = reader();
        List<Instruction> relocated = DryRun.ofKernel(spec, Host.running()).programs().stream()
                .filter(program -> program.program().equals("first"))
                .map(Fit.Program::instructions)
                .findFirst()
                .orElseThrow();
        List<Instruction> loaded = new ArrayList<>();
        BpfLoader.of(spec)
                .instructions("first", code -> {
                    loaded.addAll(code);
                    return code;
                })
                .load()
                .close();
        assertThat(withoutMaps(relocated)).isEqualTo(withoutMaps(loaded));
    }

    /** A map's number in the object, and its descriptor, are in the same place. */
    private static List<Instruction> withoutMaps(List<Instruction> code) {
        return code.stream()
                .map(each -> each.opcode() == Opcodes.LD_IMM64 ? each.withImm(0) : each)
                .toList();
    }
}
