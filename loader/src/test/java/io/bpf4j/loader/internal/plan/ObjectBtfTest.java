package io.bpf4j.loader.internal.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.btf.Btf;
import io.bpf4j.btf.BtfBuilder;
import io.bpf4j.btf.BtfType;
import io.bpf4j.btf.BtfType.EnumValue;
import io.bpf4j.btf.BtfType.Linkage;
import io.bpf4j.elf.ByteView;
import io.bpf4j.loader.ScriptedLoads;
import io.bpf4j.loader.feature.Features;
import io.bpf4j.loader.spec.DataSection;
import io.bpf4j.loader.spec.FunctionSpec;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.loader.spec.Specs;
import io.bpf4j.sys.kernel.Feature;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What an older kernel is given in place of the kinds that it lacks, and what a compiler leaves open. */
class ObjectBtfTest {
    private static final int INT = 1;
    private static final int PROTOTYPE = 2;
    private static final int GLOBAL_FUNCTION = 3;
    private static final int STATIC_FUNCTION = 4;
    private static final int REAL = 5;
    private static final int DECLARATION_TAG = 6;
    private static final int TYPE_TAG = 7;
    private static final int WIDE = 8;
    private static final int SIGNED = 9;
    private static final int VARIABLE = 10;
    private static final int SECTION = 11;
    private static final int OPTIONAL = 12;

    static List<ByteOrder> orders() {
        return List.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN);
    }

    private static BtfBuilder types() {
        BtfBuilder types = BtfBuilder.create();
        types.integer("int", 4, BtfType.Int.SIGNED);
        types.add(new BtfType.FuncProto(INT, List.of(new BtfType.Parameter("a", INT))));
        types.add(new BtfType.Func("global", PROTOTYPE, Linkage.GLOBAL));
        types.add(new BtfType.Func("static", PROTOTYPE, Linkage.STATIC));
        types.add(new BtfType.FloatingPoint("double", 8));
        types.add(new BtfType.DeclTag("tag", INT, -1, false));
        types.add(new BtfType.TypeTag("user", INT, false));
        types.add(new BtfType.Enum64("wide", 8, false, List.of(new EnumValue("WIDE", 1L << 40))));
        types.add(new BtfType.Enum32("signed", 4, true, List.of(new EnumValue("MINUS", -1))));
        types.add(new BtfType.Var("counter", INT, Linkage.GLOBAL));
        types.add(new BtfType.Datasec(".bss", 0, List.of(new BtfType.SectionVariable(VARIABLE, 0, 4))));
        types.add(new BtfType.Datasec("?.struct_ops", 0, List.of(new BtfType.SectionVariable(VARIABLE, 0, 4))));
        return types;
    }

    private static ObjectSpec object(ByteOrder order, FunctionSpec... functions) {
        DataSection data = Specs.section(".bss", 7, 16, false, Specs.variable("counter", ".bss", 8, 4, INT, VARIABLE));
        return Specs.object(
                "test.o",
                order,
                List.of(),
                List.of(functions),
                List.of(Specs.map(data, SECTION)),
                List.of(),
                Optional.of(types().build("test.o", order)));
    }

    private static Btf loadable(ObjectSpec spec, Features features) {
        byte[] bytes = ObjectBtf.loadable(spec, spec.btf().orElseThrow(), features);
        return Btf.parse(ByteView.of("loaded", bytes, spec.order()));
    }

    private static Features without(Feature... missing) {
        Features features = ScriptedLoads.everything();
        for (Feature feature : missing) {
            features = features.without(feature);
        }
        return features;
    }

    @ParameterizedTest
    @MethodSource("orders")
    void aNewKernelGetsWhatTheCompilerWroteWithPlacesFilledIn(ByteOrder order) {
        ObjectSpec spec = object(order);
        Btf before = spec.btf().orElseThrow();
        Btf after = loadable(spec, without());
        for (int id = INT; id < SECTION; id++) {
            assertThat(after.type(id)).isEqualTo(before.type(id));
        }
        assertThat(after.type(SECTION))
                .isEqualTo(new BtfType.Datasec(".bss", 16, List.of(new BtfType.SectionVariable(VARIABLE, 8, 4))));
        assertThat(((BtfType.Datasec) after.type(OPTIONAL)).name())
                .as("a name that kernels before 6.9 take, too")
                .isEqualTo("_.struct_ops");
        assertThat(((BtfType.Datasec) after.type(OPTIONAL)).size()).isEqualTo(4);
    }

    @ParameterizedTest
    @MethodSource("orders")
    void whatAKernelLacksBecomesSomethingOfTheSameSize(ByteOrder order) {
        ObjectSpec spec = object(order);
        Btf functions = loadable(spec, without(Feature.BTF_FUNC));
        assertThat(functions.type(PROTOTYPE)).isInstanceOf(BtfType.Enum32.class);
        assertThat(functions.type(GLOBAL_FUNCTION)).isEqualTo(new BtfType.Typedef("global", PROTOTYPE));
        assertThat(functions.type(STATIC_FUNCTION)).isEqualTo(new BtfType.Typedef("static", PROTOTYPE));
        assertThat(loadable(spec, without(Feature.BTF_GLOBAL_FUNC)).type(GLOBAL_FUNCTION))
                .isEqualTo(new BtfType.Func("global", PROTOTYPE, Linkage.STATIC));

        Btf sections = loadable(spec, without(Feature.BTF_DATASEC));
        assertThat(sections.type(VARIABLE)).isInstanceOf(BtfType.Int.class);
        assertThat(sections.type(SECTION)).isEqualTo(new BtfType.Struct("_bss", 16, List.of()));
        assertThat(((BtfType.Struct) sections.type(OPTIONAL)).name()).isEqualTo("__struct_ops");

        assertThat(loadable(spec, without(Feature.BTF_FLOAT)).size(REAL)).isEqualTo(8);
        assertThat(loadable(spec, without(Feature.BTF_FLOAT)).type(REAL)).isInstanceOf(BtfType.Struct.class);
        assertThat(loadable(spec, without(Feature.BTF_DECL_TAG)).type(DECLARATION_TAG))
                .isInstanceOf(BtfType.Int.class);
        assertThat(loadable(spec, without(Feature.BTF_TYPE_TAG)).type(TYPE_TAG)).isEqualTo(new BtfType.Const(INT));

        Btf enums = loadable(spec, without(Feature.BTF_ENUM64));
        assertThat(enums.type(WIDE)).isEqualTo(new BtfType.Union("wide", 8, List.of()));
        assertThat(((BtfType.Enum32) enums.type(SIGNED)).signed()).isFalse();
        assertThat(((BtfType.Enum32) enums.type(SIGNED)).values().getFirst().name())
                .isEqualTo("MINUS");
    }

    /** Linux 4.18 has none of them; and nothing of what it gets may be of a kind that it does not know. */
    @Test
    void theOldestKernelOfAll() {
        ObjectSpec spec = object(ByteOrder.nativeOrder());
        Btf after = loadable(
                spec,
                without(
                        Feature.BTF_FUNC,
                        Feature.BTF_GLOBAL_FUNC,
                        Feature.BTF_DATASEC,
                        Feature.BTF_FLOAT,
                        Feature.BTF_DECL_TAG,
                        Feature.BTF_TYPE_TAG,
                        Feature.BTF_ENUM64));
        assertThat(after.typeCount()).isEqualTo(spec.btf().orElseThrow().typeCount());
        List<BtfType> newer = new ArrayList<>();
        for (int id = 1; id < after.typeCount(); id++) {
            switch (after.type(id)) {
                case BtfType.Int _, BtfType.Enum32 _, BtfType.Typedef _, BtfType.Const _, BtfType.Composite _ -> {}
                default -> newer.add(after.type(id));
            }
        }
        assertThat(newer).isEmpty();
        assertThat(ObjectBtf.describesFunctions(spec, without(Feature.BTF_FUNC)))
                .isFalse();
    }

    @Test
    void aHiddenFunctionIsVerifiedWithItsCallers() {
        FunctionSpec hidden = Specs.function("global", 1, ".text", 0, true, List.of());
        ObjectSpec spec = object(ByteOrder.nativeOrder(), hidden);
        assertThat(loadable(spec, without()).type(GLOBAL_FUNCTION))
                .isEqualTo(new BtfType.Func("global", PROTOTYPE, Linkage.STATIC));
    }

    @Test
    void placesOfKernelSymbolsAreOfTheObjectsInt() {
        BtfBuilder types = types();
        int symbol = types.add(new BtfType.Var("jiffies", INT, Linkage.EXTERN));
        int function = types.add(new BtfType.Func("bpf_task_from_pid", PROTOTYPE, Linkage.EXTERN));
        types.add(new BtfType.Datasec(
                ".ksyms",
                0,
                List.of(new BtfType.SectionVariable(symbol, 0, 4), new BtfType.SectionVariable(function, 0, 0))));
        ObjectSpec spec = Specs.object(
                "test.o",
                ByteOrder.LITTLE_ENDIAN,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                Optional.of(types.build("test.o", ByteOrder.LITTLE_ENDIAN)));
        Btf loaded = loadable(spec, ScriptedLoads.everything());
        assertThat(IntStream.range(1, loaded.typeCount()).mapToObj(loaded::type).filter(BtfType.Int.class::isInstance))
                .hasSize(1);
        assertThat(loaded.type(symbol)).isEqualTo(new BtfType.Var("jiffies", INT, Linkage.GLOBAL));
    }
}
