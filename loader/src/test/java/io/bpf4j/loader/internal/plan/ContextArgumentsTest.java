package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfKind;
import io.bpf4j.btf.BtfType;
import io.bpf4j.insn.Instruction;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.feature.Support;
import io.bpf4j.loader.spec.CodeReference.ToFunction;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.ProgramSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.kernel.Feature;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ContextArgumentsTest {
    private static final Instruction EXIT = new Instruction(0x95, 0, 0, 0, 0);
    private static final Features OLD = features(false);
    private static final Features NEW = features(true);

    private static Features features(boolean tags) {
        return Features.of(_ -> tags ? new Support.Present("it is so") : new Support.Absent("it is not so"));
    }

    /** What argument 1 of {@code int function(int, void *)} points to, in the BTF for the kernel. */
    private static String pointee(Btf types, String function) {
        BtfType.Func func =
                (BtfType.Func) types.type(types.find(function, BtfKind.FUNC).orElseThrow());
        BtfType.FuncProto proto = (BtfType.FuncProto) types.type(func.type());
        BtfType.Ptr pointer = (BtfType.Ptr) types.type(proto.parameters().get(1).type());
        return types.name(pointer.type());
    }

    /** Programs of sections that all call {@code tagged}, beside which there is {@code plain} of the same prototype. */
    private static Btf declared(Features features, int linkage, String... sections) {
        BtfBuilder types = BtfBuilder.create();
        int integer = types.integer("int", 4, BtfType.Int.SIGNED);
        int pointer = types.pointer(0);
        int proto = types.add(new BtfType.FuncProto(
                integer, List.of(new BtfType.Parameter("n", integer), new BtfType.Parameter("ctx", pointer))));
        types.add(new BtfType.Func("plain", proto, linkage));
        int tagged = types.add(new BtfType.Func("tagged", proto, linkage));
        types.add(new BtfType.DeclTag("arg:ctx", tagged, 1, false));
        types.add(new BtfType.DeclTag("arg:ctx", tagged, 7, false)); // of no argument
        Btf original = types.build("test.o", ByteOrder.nativeOrder());

        FunctionSpec function = Specs.function("tagged", 1, ".text", 0, false, List.of(EXIT));
        List<FunctionSpec> functions = new ArrayList<>(List.of(function));
        List<ProgramSpec> programs = new ArrayList<>();
        for (String section : sections) {
            int index = 2 + programs.size();
            FunctionSpec main =
                    Specs.function("main" + index, index, section, 0, false, List.of(EXIT), new ToFunction(0, 1, 0));
            functions.add(main);
            programs.add(ProgramSpec.of(section, main));
        }
        ObjectSpec spec = Specs.object(ByteOrder.nativeOrder(), programs, functions, Optional.of(original));
        BtfBuilder result = BtfBuilder.from(original);
        ContextArguments.declare(spec, features, original, result);
        return result.build("test.o", ByteOrder.nativeOrder());
    }

    @Test
    void aTaggedArgumentGetsTheTypeOfItsProgramsContext() {
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "tc", "socket"), "tagged"))
                .as("the same in two kinds of program")
                .isEqualTo("__sk_buff");
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "xdp"), "tagged"))
                .isEqualTo("xdp_md");
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "uprobe"), "tagged"))
                .isEqualTo("bpf_user_pt_regs_t");
    }

    @Test
    void othersOfThePrototypeKeepTheirs() {
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "tc"), "plain"))
                .isEmpty();
    }

    @Test
    void whatTheKernelKnowsOrCantKnowStaysAsItIs() {
        assertThat(NEW.has(Feature.ARGUMENT_TAGS)).isTrue();
        assertThat(pointee(declared(NEW, BtfType.Linkage.GLOBAL, "tc"), "tagged"))
                .isEmpty();
        assertThat(pointee(declared(OLD, BtfType.Linkage.STATIC, "tc"), "tagged"))
                .isEmpty();
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "tc", "xdp"), "tagged"))
                .isEmpty();
        assertThat(pointee(declared(OLD, BtfType.Linkage.GLOBAL, "syscall"), "tagged"))
                .isEmpty();
    }
}
