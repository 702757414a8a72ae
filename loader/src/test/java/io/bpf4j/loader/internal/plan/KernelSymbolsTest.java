package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.core.CoreTarget;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.error.RelocationException;
import io.bpf4j.loader.spec.ExternSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.ScriptedHost;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What becomes of __ksym externs, against a kernel of three variables and a function. */
class KernelSymbolsTest {
    @TempDir
    Path folder;

    private final BtfBuilder own = BtfBuilder.create();
    private final BtfBuilder kernels = BtfBuilder.create();
    private int variable;
    private int function;

    @BeforeEach
    void aKernel() {
        int integer = kernels.integer("int", 4, BtfType.Int.SIGNED);
        int rq = kernels.struct("rq", 8, BtfType.Member.at("cpu", integer, 0));
        variable = kernels.add(new BtfType.Var("runqueues", rq, BtfType.Linkage.GLOBAL));
        kernels.add(new BtfType.Var("jiffies_per_tick", kernels.typedef("tick_t", integer), BtfType.Linkage.GLOBAL));
        int proto =
                kernels.add(new BtfType.FuncProto(integer, List.of(new BtfType.Parameter("q", kernels.pointer(rq)))));
        function = kernels.add(new BtfType.Func("bpf_pick", proto, BtfType.Linkage.STATIC));
    }

    private KernelSymbols.Resolved resolve(String name, ExternSpec.Kind kind, int type, boolean weak, String kallsyms) {
        ScriptedHost.write(folder, "proc/kallsyms", kallsyms);
        var spec = ScriptedLoads.spec(
                "test.o",
                List.of(),
                List.of(Specs.extern(kind, name, weak, type, 0)),
                own.build("test.o", ByteOrder.LITTLE_ENDIAN));
        CoreTarget target = CoreTarget.of(kernels.build("vmlinux", ByteOrder.LITTLE_ENDIAN));
        TargetKernel kernel =
                new TargetKernel(ScriptedHost.of(new ScriptedKernel(), folder), ScriptedLoads.everything(), target);
        return java.util.Objects.requireNonNull(
                resolve(new KernelSymbols(spec, kernel)).get(name));
    }

    private static Map<String, KernelSymbols.Resolved> resolve(KernelSymbols symbols) {
        Problems problems = new Problems();
        Map<String, KernelSymbols.Resolved> resolved = symbols.resolve(problems);
        problems.found().forEach(problem -> {
            throw problem.failure();
        });
        return resolved;
    }

    private KernelSymbols.Resolved variable(String name, int type, boolean weak) {
        return resolve(name, ExternSpec.Kind.KSYM_TYPED, type, weak, "");
    }

    private KernelSymbols.Resolved symbol(boolean weak, String kallsyms) {
        return resolve("fops", ExternSpec.Kind.KSYM, 0, weak, kallsyms);
    }

    private int declared(String name, int... parameters) {
        int result = own.integer("int", 4, BtfType.Int.SIGNED);
        List<BtfType.Parameter> all = java.util.Arrays.stream(parameters)
                .mapToObj(type -> new BtfType.Parameter("", type))
                .toList();
        return own.add(new BtfType.Func(name, own.add(new BtfType.FuncProto(result, all)), BtfType.Linkage.EXTERN));
    }

    @Test
    void aVariableOfTheDeclaredKindIsFound() {
        // What is in the struct does not count: that is for CO-RE.
        int declared = own.add(new BtfType.Const(own.struct("rq", 0)));
        assertThat(variable("runqueues", declared, false).btfId()).isEqualTo(variable);
        int number = own.integer("unsigned int", 4, 0);
        assertThat(variable("jiffies_per_tick", own.add(new BtfType.Volatile(number)), false)
                        .btfId())
                .isPositive();
    }

    @Test
    void aVariableOfAnotherKindIsAnErrorWeakOrNot() {
        int declared = own.integer("int", 4, BtfType.Int.SIGNED);
        for (boolean weak : new boolean[] {true, false}) {
            assertThatThrownBy(() -> variable("runqueues", declared, weak))
                    .isInstanceOf(RelocationException.class)
                    .hasMessageContaining("runqueues")
                    .hasMessageContaining("STRUCT rq")
                    .hasMessageContaining("INT int");
        }
    }

    @Test
    void aVariableHasNoFlavours() {
        int declared = own.struct("rq", 0);
        assertThat(variable("runqueues___old", declared, true).isMissing()).isTrue();
        assertThatThrownBy(() -> variable("runqueues___old", declared, false))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("__weak");
    }

    @Test
    void ofAFunctionsFlavoursTheOneThatFitsIsThere() {
        int pointer = own.pointer(own.struct("rq", 0));
        int fits = declared("bpf_pick___new", pointer);
        int older = declared("bpf_pick___old", pointer, pointer);
        assertThat(resolve("bpf_pick___new", ExternSpec.Kind.KFUNC, fits, true, "")
                        .btfId())
                .isEqualTo(function);
        assertThat(resolve("bpf_pick___old", ExternSpec.Kind.KFUNC, older, true, "")
                        .isMissing())
                .isTrue();
        assertThatThrownBy(() -> resolve("bpf_pick___old", ExternSpec.Kind.KFUNC, older, false, ""))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("bpf_pick")
                .hasMessageContaining("parameters");
    }

    @Test
    void anAddressIsTakenIfThereIsOne() {
        assertThat(symbol(false, "ffffffff82000000 d fops\nffffffff82000000 d fops\n")
                        .address())
                .isEqualTo(0xffffffff82000000L);
        assertThat(symbol(true, "ffffffff82000000 d others\n").address()).isZero();
        assertThatThrownBy(() -> symbol(false, "ffffffff82000000 d others\n")).hasMessageContaining("__weak");
    }

    /** A kernel without CONFIG_KALLSYMS_ALL. */
    @Test
    void aKernelThatListsNoVariablesSaysSo() {
        String functions = "ffffffff81000000 T _stext\nffffffff81000010 w weak\nffffffffc0a04000 t f\t[module]\n";
        assertThatThrownBy(() -> symbol(false, functions))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("fops")
                .hasMessageContaining("CONFIG_KALLSYMS_ALL")
                .hasMessageContaining("__weak");
        assertThat(symbol(true, functions).isMissing()).isTrue();
        assertThatThrownBy(() -> symbol(false, functions + "ffffffff82000000 B others\n"))
                .isInstanceOf(RelocationException.class)
                .hasMessageContaining("which this kernel does not have");
    }

    @Test
    void twoAddressesAreAmbiguousWeakOrNot() {
        for (boolean weak : new boolean[] {true, false}) {
            assertThatThrownBy(() -> symbol(weak, "ffffffff82000000 d fops\nffffffffc0000000 d fops\t[module]\n"))
                    .isInstanceOf(RelocationException.class)
                    .hasMessageContaining("ambiguous")
                    .hasMessageContaining("0xffffffff82000000")
                    .hasMessageContaining("0xffffffffc0000000");
        }
    }

    @Test
    void anAddressOfZeroIsAnAddress() {
        assertThat(symbol(false, "0000000000000000 d fops\n").address()).isZero();
    }
}
