package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.EXCLUSIVE_MAPS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.Feature;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.Bpf;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Maps that one program has for itself: the kernel computes the same hash of it, or the program would be refused. */
@Requires({BPF, EXCLUSIVE_MAPS})
@ExtendWith(LeakCheck.class)
class ExclusiveMapsOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    /** Returns the first value of a table, and a number more, through a function of its own. */
    private static FunctionSpec reader(String name, int more) {
        return FunctionSpec.of(
                name,
                Assembler.create()
                        .st(4, R10, -4, 0)
                        .movReg(R2, R10)
                        .alu(Opcodes.ADD, R2, -4)
                        .loadMap(R1, "table")
                        .call("bpf_map_lookup_elem")
                        .jump(Opcodes.JEQ, R0, 0, "out")
                        .ldx(4, R1, R0, 0)
                        .callFunction("add_" + more)
                        .label("out")
                        .exit());
    }

    private static FunctionSpec adder(int more) {
        return FunctionSpec.of(
                "add_" + more,
                Assembler.create().movReg(R0, R1).alu(Opcodes.ADD, R0, more).exit());
    }

    private static ObjectSpec exclusive() {
        return ObjectSpec.of("exclusive")
                .withMap(MapSpec.of("table", MapType.ARRAY, 4, 4, 1).withExclusiveProgram("first"))
                .withFunction(adder(1))
                .withFunction(adder(2))
                .withProgram(ProgramSpec.of("socket", reader("first", 1)));
    }

    private static void put(BpfObject object, int value) {
        TypedMap.of(object.map("table"), Codec.ofInt(), Codec.ofInt()).put(0, value);
    }

    @Test
    void theProgramUsesItsMap() {
        assertThat(Features.ofRunningKernel().has(Feature.EXCLUSIVE_MAP)).isTrue();
        try (BpfObject object = BpfLoader.of(exclusive()).load()) {
            put(object, 41);
            assertThat(object.program("first").test(PACKET).returned()).isEqualTo(42);
        }
    }

    @Test
    void anotherProgramIsRefused() {
        ObjectSpec two = exclusive().withProgram(ProgramSpec.of("socket", reader("second", 2)));
        assertThatThrownBy(() -> BpfLoader.of(two).load())
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("program \"second\"")
                .hasMessageContaining("it uses a map that is exclusive to another program");
    }

    /** The same instructions are the same program, whatever its name. */
    @Test
    void aCopyAndTheSameProgramOfAnotherObjectMayUseIt() {
        ObjectSpec spec = exclusive();
        ObjectSpec copied = spec.withProgram(spec.program("first").withName("again"));
        try (BpfObject object = BpfLoader.of(copied).load();
                BpfObject same = BpfLoader.of(spec)
                        .reuseMap("table", object.map("table"))
                        .load()) {
            put(object, 6);
            assertThat(object.program("again").test(PACKET).returned()).isEqualTo(7);
            assertThat(same.program("first").test(PACKET).returned()).isEqualTo(7);
            ObjectSpec other = ObjectSpec.of("other")
                    .withMap(MapSpec.of("table", MapType.ARRAY, 4, 4, 1))
                    .withFunction(adder(2))
                    .withProgram(ProgramSpec.of("socket", reader("second", 2)));
            assertThatThrownBy(() -> BpfLoader.of(other)
                            .reuseMap("table", object.map("table"))
                            .load())
                    .isInstanceOf(VerifierException.class);
        }
    }

    /** Of an object that was compiled from C: with relocations, global data and types. */
    @Test
    void aProgramThatWasCompiledUsesItsMap() {
        try (BpfObject object = BpfLoader.of(Bpf.spec("edits.bpf.o"))
                .map("extra", map -> map.withExclusiveProgram("guarded"))
                .map(".rodata", map -> map.withExclusiveProgram("guarded"))
                .global("use_extra", true)
                .load()) {
            assertThat(object.program("guarded").test(PACKET).returned()).isEqualTo(8);
        }
        assertThatThrownBy(() -> BpfLoader.of(Bpf.spec("edits.bpf.o"))
                        .map("extra", map -> map.withExclusiveProgram("guarded"))
                        .program("unguarded", program -> program.withAutoload(true))
                        .load())
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("program \"unguarded\"");
    }
}
