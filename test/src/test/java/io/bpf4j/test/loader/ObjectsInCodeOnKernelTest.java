package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.insn.Assembler.R4;
import static io.bpf4j.test.support.Requirement.BPF;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Objects that are written in Java, without a compiler and without a file. */
@Requires(BPF)
@ExtendWith(LeakCheck.class)
@Timeout(300)
class ObjectsInCodeOnKernelTest {
    private static final TestRun PACKET = TestRun.onData(new byte[64]);

    /** The program of docs/object-lifecycle.md. */
    @Test
    void aProgramCountsSystemCallsByProcess() {
        Assembler count = Assembler.create()
                .call("bpf_get_current_pid_tgid")
                .alu(Opcodes.RSH, R0, 32)
                .stx(4, R10, -4, R0) // the key: the process
                .st(8, R10, -16, 1) // its first value
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .loadMap(R1, "counts")
                .call("bpf_map_lookup_elem")
                .jump(Opcodes.JNE, R0, 0, "known")
                .movReg(R2, R10)
                .alu(Opcodes.ADD, R2, -4)
                .movReg(R3, R10)
                .alu(Opcodes.ADD, R3, -16)
                .mov(R4, 0)
                .loadMap(R1, "counts")
                .call("bpf_map_update_elem")
                .jump("out")
                .label("known")
                .mov(R1, 1)
                .atomic(8, Opcodes.ADD, R0, 0, R1)
                .label("out")
                .mov(R0, 0)
                .exit();
        ObjectSpec spec = ObjectSpec.of("calls")
                .withMap(MapSpec.of("counts", MapType.HASH, 4, 8, 1024))
                .withProgram(ProgramSpec.of("raw_tp/sys_enter", FunctionSpec.of("count", count)));
        try (BpfObject object = BpfLoader.of(spec).load();
                Link _ = object.program("count").attach()) {
            for (int i = 0; i < 10; i++) {
                assertThat(Files.exists(Path.of("/proc/self"))).isTrue();
            }
            TypedMap<Integer, Long> counts = TypedMap.of(object.map("counts"), Codec.ofInt(), Codec.ofLong());
            assertThat(counts.toMap().values()).anyMatch(calls -> calls >= 10);
        }
    }

    /** Returns the result of a function that it calls. */
    private static FunctionSpec calls(String name, String function) {
        return FunctionSpec.of(name, Assembler.create().callFunction(function).exit());
    }

    private static FunctionSpec returns(String name, int value) {
        return FunctionSpec.of(name, Assembler.create().mov(R0, value).exit());
    }

    @Test
    void programsShareFunctionsThatTheyCallByName() {
        ObjectSpec spec = ObjectSpec.of("shared")
                .withProgram(ProgramSpec.of("socket", calls("first", "one")))
                .withProgram(ProgramSpec.of("socket", calls("second", "seven")))
                .withFunction(calls("one", "seven"))
                .withFunction(returns("seven", 7));
        try (BpfObject object = BpfLoader.of(spec).load()) {
            assertThat(object.program("first").test(PACKET).returned()).isEqualTo(7);
            assertThat(object.program("second").test(PACKET).returned()).isEqualTo(7);
        }
    }

    @Test
    void aNameThatTheObjectHasIsRefused() {
        ObjectSpec spec = ObjectSpec.of("file")
                .withMap(MapSpec.of("table", MapType.ARRAY, 4, 8, 1))
                .withProgram(ProgramSpec.of("socket", returns("seven", 7)));
        assertThatThrownBy(() -> spec.withProgram(ProgramSpec.of("xdp", returns("seven", 1))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("file already has a function \"seven\"");
        assertThatThrownBy(() -> spec.withMap(MapSpec.of("table", MapType.HASH, 4, 8, 1)))
                .hasMessage("file already has a map \"table\"");
        assertThatThrownBy(() -> FunctionSpec.of("empty", Assembler.create()))
                .hasMessage("function \"empty\" needs at least one instruction");
    }

    @Test
    void aNameThatTheObjectLacksIsNamed() {
        Assembler code = Assembler.create().loadMap(R1, "nowhere").mov(R0, 0).exit();
        assertThatThrownBy(() -> load(FunctionSpec.of("p", code)))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("test: function \"p\" refers to unknown map \"nowhere\"");
        assertThatThrownBy(() -> load(calls("p", "nobody")))
                .isInstanceOf(InvalidObjectException.class)
                .hasMessage("test: function \"p\" refers to unknown function \"nobody\"");
        assertThatThrownBy(code::assemble)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("the code refers to map \"nowhere\" by its name");
    }

    @Test
    void theVerifiersRefusalNamesTheFunction() {
        assertThatThrownBy(() -> load(FunctionSpec.of("p", Assembler.create().exit())))
                .isInstanceOf(VerifierException.class)
                .hasMessageContaining("R0 !read_ok");
    }

    @Test
    void theLicenseAllowsHelpersOfTheGpl() {
        FunctionSpec function = FunctionSpec.of(
                "p", Assembler.create().call("bpf_get_current_task").mov(R0, 5).exit());
        ObjectSpec without = ObjectSpec.of("test").withProgram(ProgramSpec.of("raw_tp", function));
        assertThatThrownBy(() -> BpfLoader.of(without).load()).isInstanceOf(VerifierException.class);
        try (BpfObject object = BpfLoader.of(without.withLicense("GPL")).load()) {
            assertThat(object.program("p").test(TestRun.once()).returned()).isEqualTo(5);
        }
    }

    private static void load(FunctionSpec function) {
        BpfLoader.of(ObjectSpec.of("test").withProgram(ProgramSpec.of("socket", function)))
                .load()
                .close();
    }
}
