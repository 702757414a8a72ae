package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.Parameter;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.Opcodes;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.internal.plan.AssembledProgram;
import io.bpf4j.loader.internal.plan.LoadOptions;
import io.bpf4j.loader.internal.plan.LoadPlan;
import io.bpf4j.loader.internal.plan.TargetKernel;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.ProgCommand;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Calls of functions of the kernel and of its modules: by BTF id, and for a module by its place in the program's list
 * of descriptors. Planned for a kernel that is made here, then loaded.
 */
class KernelFunctionCallsTest {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final String LOOK_UP = "bpf_skb_ct_lookup";
    private static final String RELEASE = "bpf_ct_release";
    private static final String KERNEL = "vmlinux";

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final ModulesOfKernel modules = new ModulesOfKernel(kernel, "first", "second");
    private final ObjectSpec spec = ScriptedLoads.spec("modules.bpf.o");
    private final Map<String, Integer> ids = new HashMap<>();

    @AfterEach
    void nothingStaysOpen() {
        assertThat(kernel.open()).isEmpty();
    }

    private static int pointer(BtfBuilder types, String struct) {
        return types.pointer(types.struct(struct, 4, BtfType.Member.at("number", types.integer("int", 4, 0), 0)));
    }

    /** The object's program for a kernel that has the functions in these places. */
    private LoadPlan plan(String ofLookUp, String ofRelease) {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("unsigned int", 4, 0);
        int connection = pointer(types, "nf_conn");
        int lookUp = types.add(new BtfType.FuncProto(
                connection,
                List.of(
                        new Parameter("skb", pointer(types, "__sk_buff")),
                        new Parameter("tuple", pointer(types, "bpf_sock_tuple")),
                        new Parameter("size", number),
                        new Parameter("options", pointer(types, "bpf_ct_opts")),
                        new Parameter("size", number))));
        int release = types.add(new BtfType.FuncProto(0, List.of(new Parameter("connection", connection))));
        if (ofLookUp.equals(KERNEL)) {
            types.add(new BtfType.Func(LOOK_UP, lookUp, BtfType.Linkage.STATIC));
        }
        if (ofRelease.equals(KERNEL)) {
            types.add(new BtfType.Func(RELEASE, release, BtfType.Linkage.STATIC));
        }
        Btf vmlinux = types.build("/sys/kernel/btf/vmlinux", ORDER);
        List<Btf> split = List.of("first", "second").stream()
                .map(name -> {
                    BtfBuilder own = BtfBuilder.split(vmlinux);
                    own.struct(name, 4, BtfType.Member.at("number", number, 0));
                    if (name.equals("second")) {
                        own.typedef("second_t", number); // so that ids differ
                    }
                    if (name.equals(ofLookUp)) {
                        own.add(new BtfType.Func(LOOK_UP, lookUp, BtfType.Linkage.STATIC));
                    }
                    if (name.equals(ofRelease)) {
                        own.add(new BtfType.Func(RELEASE, release, BtfType.Linkage.STATIC));
                    }
                    return own.build("/sys/kernel/btf/" + name, ORDER);
                })
                .toList();
        for (Btf each : List.of(vmlinux, split.get(0), split.get(1))) {
            each.find(LOOK_UP, BtfKind.FUNC).ifPresent(id -> ids.put(LOOK_UP, id));
            each.find(RELEASE, BtfKind.FUNC).ifPresent(id -> ids.put(RELEASE, id));
        }
        return LoadPlan.of(
                spec.withPrograms(Map.of("look_up", spec.program("look_up").withAutoload(true))),
                new LoadOptions(),
                new TargetKernel(kernel.host(), ScriptedLoads.everything(), CoreTarget.of(vmlinux, () -> split)));
    }

    private static AssembledProgram code(LoadPlan plan) {
        return plan.programs().getFirst().code().orElseThrow();
    }

    /** What the verifier gets. */
    private ProgCommand.Load load(String ofLookUp, String ofRelease) {
        try (LoadedObject loaded =
                new LoadedObject(kernel.host(), ScriptedLoads.everything(), plan(ofLookUp, ofRelease))) {
            assertThat(loaded.programs()).containsOnlyKeys("look_up");
            return kernel.commands(ProgCommand.Load.class).getLast();
        }
    }

    private int offsetOfCall(AssembledProgram program, String function) {
        return program.instructions().stream()
                .filter(i -> i.opcode() == 0x85 && i.src() == Opcodes.PSEUDO_KFUNC_CALL && i.imm() == id(function))
                .findFirst()
                .orElseThrow()
                .offset();
    }

    private int id(String function) {
        return ids.getOrDefault(function, 0);
    }

    /** What {@code if (function)} loads besides the function's id. */
    private int descriptor(ProgCommand.Load load, String function) {
        ByteBuffer code = ByteBuffer.wrap(load.instructions()).order(ORDER);
        for (int at = 0; at < code.capacity() - Instruction.SIZE; at += Instruction.SIZE) {
            int source = code.get(at + 1) >> (ORDER == ByteOrder.LITTLE_ENDIAN ? 4 : 0) & 15;
            if (code.get(at) == 0x18 && source == Opcodes.PSEUDO_BTF_ID && code.getInt(at + 4) == id(function)) {
                return code.getInt(at + 12);
            }
        }
        throw new AssertionError("no load of " + function);
    }

    @Test
    void functionsOfTheKernelNeedNoDescriptor() {
        AssembledProgram program = code(plan(KERNEL, KERNEL));
        assertThat(offsetOfCall(program, LOOK_UP)).isZero();
        assertThat(offsetOfCall(program, RELEASE)).isZero();
        assertThat(program.modules()).isEmpty();
        ProgCommand.Load load = load(KERNEL, KERNEL);
        assertThat(descriptor(load, LOOK_UP)).isZero();
        assertThat(load.fdArray()).isEmpty();
    }

    @Test
    void modulesAreCountedFromOneInTheOrderOfTheirCalls() {
        AssembledProgram program = code(plan("second", "first"));
        assertThat(offsetOfCall(program, LOOK_UP)).isEqualTo(1);
        assertThat(offsetOfCall(program, RELEASE)).isEqualTo(2);
        assertThat(program.modules()).containsExactly("second", "first");
        ProgCommand.Load load = load("second", "first");
        Fd ofFirst = modules.fd("first");
        Fd ofSecond = modules.fd("second");
        assertThat(load.fdArray())
                .as("0 is the kernel, and never looked at")
                .containsExactly(ofSecond, ofSecond, ofFirst);
        assertThat(descriptor(load, LOOK_UP)).isEqualTo(modules.number("second"));
        assertThat(descriptor(load, RELEASE)).isEqualTo(modules.number("first"));
        assertThat(load.instructionFds()).as("held while the kernel looks").contains(ofFirst, ofSecond);
    }

    @Test
    void functionsOfOneModuleShareItsPlace() {
        AssembledProgram program = code(plan("first", "first"));
        assertThat(offsetOfCall(program, LOOK_UP)).isEqualTo(1);
        assertThat(offsetOfCall(program, RELEASE)).isEqualTo(1);
        assertThat(load("first", "first").fdArray()).hasSize(2).containsOnly(modules.fd("first"));
    }

    @Test
    void theKernelAndAModuleSideBySide() {
        AssembledProgram program = code(plan(KERNEL, "second"));
        assertThat(offsetOfCall(program, LOOK_UP)).isZero();
        assertThat(offsetOfCall(program, RELEASE)).isEqualTo(1);
        assertThat(load(KERNEL, "second").fdArray()).hasSize(2);
    }

    @Test
    void whatIsMissingIsNamedForTheVerifiersSake() {
        AssembledProgram program = code(plan(KERNEL, KERNEL));
        assertThat(program.poisoned()).singleElement().satisfies(poisoned -> {
            assertThat(poisoned.kind()).isEqualTo(AssembledProgram.Poisoned.Kind.FUNCTION);
            assertThat(poisoned.subject()).isEqualTo("bpf4j_no_such_function");
            assertThat(program.instructions().get(poisoned.slot()).imm()).isEqualTo(2_002_000_000);
        });
        assertThat(program.absent()).extracting(AssembledProgram.Absent::symbol).containsOnly("bpf4j_no_such_function");
    }
}
