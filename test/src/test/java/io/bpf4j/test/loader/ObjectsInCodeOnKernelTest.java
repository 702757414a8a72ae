package io.bpf4j.test.loader;

import static io.bpf4j.insn.Assembler.R0;
import static io.bpf4j.insn.Assembler.R1;
import static io.bpf4j.insn.Assembler.R10;
import static io.bpf4j.insn.Assembler.R2;
import static io.bpf4j.insn.Assembler.R3;
import static io.bpf4j.insn.Assembler.R4;
import static io.bpf4j.test.support.Requirement.BPF;
import static io.bpf4j.test.support.Requirement.BPF_LOOP;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Assembler;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.TestRun;
import io.bpf4j.loader.error.InvalidObjectException;
import io.bpf4j.loader.error.VerifierException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.TypedMap;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.MapSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.sys.kernel.MapType;
import io.bpf4j.test.support.LeakCheck;
import io.bpf4j.test.support.Requires;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

    /** The object of docs/object-lifecycle.md whose function bpf_loop calls. */
    @Test
    @Requires(BPF_LOOP)
    void aHelperCallsAFunctionWithAType() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("int", 4, BtfType.Int.SIGNED);
        int pointer = types.pointer(0);
        int loop = types.add(new BtfType.Func(
                "sum",
                types.add(new BtfType.FuncProto(
                        number,
                        List.of(new BtfType.Parameter("index", number), new BtfType.Parameter("total", pointer)))),
                BtfType.Linkage.STATIC));
        int entry = types.add(new BtfType.Func(
                "entry",
                types.add(new BtfType.FuncProto(number, List.of(new BtfType.Parameter("ctx", pointer)))),
                BtfType.Linkage.GLOBAL));
        FunctionSpec sum = FunctionSpec.of(
                        "sum",
                        Assembler.create()
                                .ldx(8, R3, R2, 0)
                                .aluReg(Opcodes.ADD, R3, R1)
                                .stx(8, R2, 0, R3)
                                .mov(R0, 0)
                                .exit())
                .withType(loop);
        FunctionSpec main = FunctionSpec.of(
                        "entry",
                        Assembler.create()
                                .st(8, R10, -8, 0)
                                .mov(R1, 10)
                                .loadFunction(R2, "sum")
                                .movReg(R3, R10)
                                .alu(Opcodes.ADD, R3, -8)
                                .mov(R4, 0)
                                .call("bpf_loop")
                                .ldx(8, R0, R10, -8)
                                .exit())
                .withType(entry);
        ObjectSpec spec = ObjectSpec.of("loops")
                .withBtf(types.build("loops", ByteOrder.nativeOrder()))
                .withProgram(ProgramSpec.of("socket", main))
                .withFunction(sum);
        try (BpfObject object = BpfLoader.of(spec).load()) {
            assertThat(object.program("entry").test(PACKET).returned()).isEqualTo(45);
        }
        assertThatThrownBy(() ->
                        BpfLoader.of(spec.withFunction(sum, sum.withType(0))).load())
                .as("a function without a type is not called back")
                .isInstanceOf(VerifierException.class);
    }

    @Test
    void aMapHasTheTypesOfItsValues() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("unsigned int", 4, 0);
        int lock = types.struct("bpf_spin_lock", 4, BtfType.Member.at("val", number, 0));
        int value =
                types.struct("counter", 8, BtfType.Member.at("lock", lock, 0), BtfType.Member.at("hits", number, 4));
        ObjectSpec spec = ObjectSpec.of("locked")
                .withBtf(types.build("locked", ByteOrder.nativeOrder()))
                .withMap(MapSpec.of("counters", MapType.ARRAY, 4, 8, 1).withTypes(number, value));
        try (BpfObject object = BpfLoader.of(spec).load()) {
            BpfMap counters = object.map("counters");
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment key = arena.allocate(4, 4);
                MemorySegment hits = arena.allocate(8, 8);
                hits.set(ValueLayout.JAVA_INT, 4, 7);
                counters.update(key, hits, BpfMap.F_LOCK);
                hits.fill((byte) -1);
                assertThat(counters.lookup(key, hits, BpfMap.F_LOCK)).isTrue();
                assertThat(hits.get(ValueLayout.JAVA_INT, 4))
                        .as("under the lock of the value")
                        .isEqualTo(7);
            }
            assertThat(counters.valueType().orElseThrow().btf().name(value)).isEqualTo("counter");
        }
        assertThatThrownBy(() -> spec.withBtf(types.build("again", ByteOrder.nativeOrder())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("locked already has BTF");
        ByteOrder other =
                ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN;
        assertThatThrownBy(() -> ObjectSpec.of("x").withBtf(types.build("others", other)))
                .hasMessageStartingWith("x can't have the types of others, which are ");
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
