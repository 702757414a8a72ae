package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType.Member;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.insn.Instruction;
import io.bpf4j.insn.PseudoSource;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.ScriptedKernel;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Calls of functions of the kernel and of its modules: by BTF id, and for a module by its place in the program's list of
 * descriptors.
 */
class KernelFunctionCallsTest {
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int LOOK_UP = 70;
    private static final int RELEASE = 80;

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final ObjectSpec spec = ScriptedLoads.spec("modules.bpf.o");
    private final Map<Btf, Fd> opened = new HashMap<>();
    private final Btf vmlinux;
    private final Btf first;
    private final Btf second;

    KernelFunctionCallsTest() {
        BtfBuilder types = BtfBuilder.create();
        int number = types.integer("int", 4, 0);
        vmlinux = types.build("/sys/kernel/btf/vmlinux", ORDER);
        first = module("first", number);
        second = module("second", number);
    }

    private Btf module(String name, int number) {
        BtfBuilder types = BtfBuilder.split(vmlinux);
        types.struct(name, 4, Member.at("number", number, 0));
        return types.build("/sys/kernel/btf/" + name, ORDER);
    }

    @AfterEach
    void close() {
        opened.values().forEach(Fd::close);
        assertThat(kernel.open()).isEmpty();
    }

    private AssembledProgram assemble(@Nullable Btf ofLookUp, @Nullable Btf ofRelease) {
        Map<String, KernelSymbols.Resolved> symbols = new HashMap<>();
        for (ExternSpec extern : spec.externs()) {
            symbols.put(
                    extern.name(),
                    switch (extern.name()) {
                        case "bpf_skb_ct_lookup" -> new KernelSymbols.Resolved(extern, 0, LOOK_UP, ofLookUp);
                        case "bpf_ct_release" -> new KernelSymbols.Resolved(extern, 0, RELEASE, ofRelease);
                        default -> new KernelSymbols.Resolved(extern, 0, 0);
                    });
        }
        return new ProgramAssembly(
                        spec,
                        (_, _) -> OptionalInt.of(1),
                        symbols,
                        () -> CoreTarget.of(vmlinux),
                        module -> opened.computeIfAbsent(module, m -> kernel.newFd(m.source())),
                        false)
                .assemble(spec.program("look_up").orElseThrow());
    }

    private static Instruction call(AssembledProgram program, int btfId) {
        return program.instructions().stream()
                .filter(i -> i.opcode() == 0x85 && i.src() == PseudoSource.KFUNC_CALL && i.imm() == btfId)
                .findFirst()
                .orElseThrow();
    }

    /** What {@code if (function)} loads: id and descriptor. */
    private static int[] address(AssembledProgram program, int btfId) {
        List<Instruction> code = new ArrayList<>(program.instructions());
        for (int i = 0; i < code.size(); i++) {
            Instruction load = code.get(i);
            if (load.isLoadImm64() && load.src() == PseudoSource.BTF_ID && load.imm() == btfId) {
                return new int[] {load.imm(), code.get(i + 1).imm()};
            }
        }
        throw new AssertionError("no load of BTF id " + btfId);
    }

    @Test
    void functionsOfTheKernelNeedNoDescriptor() {
        AssembledProgram program = assemble(null, null);
        assertThat(call(program, LOOK_UP).offset()).isZero();
        assertThat(call(program, RELEASE).offset()).isZero();
        assertThat(address(program, LOOK_UP)).containsExactly(LOOK_UP, 0);
        assertThat(program.modules()).isEmpty();
    }

    @Test
    void modulesAreCountedFromOneInTheOrderOfTheirCalls() {
        AssembledProgram program = assemble(first, second);
        assertThat(call(program, LOOK_UP).offset()).isEqualTo(1);
        assertThat(call(program, RELEASE).offset()).isEqualTo(2);
        Fd ofFirst = opened.get(first);
        Fd ofSecond = opened.get(second);
        assertThat(program.modules())
                .as("0 is the kernel, and never looked at")
                .containsExactly(ofFirst, ofFirst, ofSecond);
        assertThat(address(program, LOOK_UP)).containsExactly(LOOK_UP, number(ofFirst));
        assertThat(address(program, RELEASE)).containsExactly(RELEASE, number(ofSecond));
        assertThat(program.mentioned()).as("held while the kernel looks").contains(ofFirst, ofSecond);
    }

    @Test
    void functionsOfOneModuleShareItsPlace() {
        AssembledProgram program = assemble(first, first);
        assertThat(call(program, LOOK_UP).offset()).isEqualTo(1);
        assertThat(call(program, RELEASE).offset()).isEqualTo(1);
        assertThat(program.modules()).hasSize(2).containsOnly(opened.get(first));
    }

    @Test
    void theKernelAndAModuleSideBySide() {
        AssembledProgram program = assemble(null, second);
        assertThat(call(program, LOOK_UP).offset()).isZero();
        assertThat(call(program, RELEASE).offset()).isEqualTo(1);
        assertThat(program.modules()).hasSize(2);
    }

    @Test
    void whatIsMissingIsNamedForTheVerifiersSake() {
        AssembledProgram program = assemble(null, null);
        assertThat(program.poisoned()).singleElement().satisfies(poisoned -> {
            assertThat(poisoned.kind()).isEqualTo(AssembledProgram.Poisoned.Kind.FUNCTION);
            assertThat(poisoned.what()).isEqualTo("bpf4j_no_such_function");
            assertThat(program.instructions().get(poisoned.slot()).imm()).isEqualTo(2_002_000_000);
        });
        assertThat(program.absent()).extracting(AssembledProgram.Absent::symbol).containsOnly("bpf4j_no_such_function");
    }

    private static int number(@Nullable Fd fd) {
        return fd == null ? -1 : fd.number();
    }
}
