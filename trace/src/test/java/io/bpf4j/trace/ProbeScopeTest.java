package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.trace.catalog.ArgumentType;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.expression.ValueType;
import io.bpf4j.trace.internal.expression.Scope;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtArg;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProbeScopeTest {
    private static final Catalog CATALOG =
            Catalog.parse("test", "provider db\n\nprobe query(id: u64, rows: s32)\n  A query.\n");

    private static ProbeScope scope(UsdtProbe... probes) {
        return new ProbeScope(new ProbeNumbers(Question.on(List.of(probes)).withCatalog(CATALOG)).all(), false);
    }

    private static ArgumentType type(ProbeScope scope, String name) {
        Map<Integer, Scope.Argument> byProbe = scope.find(name).orElseThrow();
        return byProbe.get(1).type().orElseThrow();
    }

    @Test
    void aNumberIsUnsignedIfAllSitesSaySo() {
        assertThat(type(scope(SampleProbe.of("x", SampleProbe.WIDE)), "arg0"))
                .isEqualTo(new ArgumentType.Int(ValueType.Int.U64));
        assertThat(type(scope(SampleProbe.of("x", SampleProbe.SIGNED)), "arg0"))
                .isEqualTo(new ArgumentType.Int(ValueType.Int.S64));
        UsdtArg narrow = UsdtArg.unsigned(4, new UsdtArg.Register("rax"));
        assertThat(type(scope(SampleProbe.of("x", narrow)), "arg0"))
                .as("a file that appears later may have a wider one")
                .isEqualTo(new ArgumentType.Int(ValueType.Int.S64));
    }

    @Test
    void namesAreThoseOfTheCatalog() {
        ProbeScope scope = scope(SampleProbe.of("query", SampleProbe.WIDE, SampleProbe.SIGNED));
        assertThat(scope.find("rows"))
                .hasValueSatisfying(byProbe -> assertThat(byProbe)
                        .containsOnlyKeys(1)
                        .hasEntrySatisfying(
                                1, argument -> assertThat(argument.index()).isEqualTo(1)));
        assertThat(scope.find("arg2")).isEmpty();
        assertThat(scope.find("other")).isEmpty();
        assertThat(scope.names()).contains("id", "rows", "arg0", "arg1").doesNotContain("arg2");
        assertThat(scope.probes()).containsOnly(Map.entry(1, "db:query"));
    }

    @Test
    void aFloatingPointArgumentHasItsSizeIfAllSitesAgree() {
        UsdtArg number = SampleProbe.WIDE.withFloat();
        assertThat(type(scope(SampleProbe.of("x", number)), "arg0"))
                .isEqualTo(new ArgumentType.FloatingPoint(new ValueType.FloatingPoint(8)));
        ProbeScope mixed = scope(SampleProbe.of("x", number), SampleProbe.of("x", SampleProbe.WIDE));
        assertThat(mixed.find("arg0").orElseThrow().get(1).type())
                .as("of two files with the same number of arguments")
                .isEmpty();
    }

    @Test
    void aVersionWithoutTheArgumentHasOneThatNoSiteHas() {
        ProbeScope scope = scope(SampleProbe.of("x", SampleProbe.WIDE), SampleProbe.of("x"));
        Map<Integer, Scope.Argument> byProbe = scope.find("arg0").orElseThrow();
        assertThat(byProbe.get(1).index()).isZero();
        assertThat(byProbe.get(2)).isEqualTo(byProbe.get(1));
        assertThat(scope(SampleProbe.of("y")).find("arg0")).isEmpty();
    }

    @Test
    void aFunctionHasTheArgumentsInRegistersAndItsReturnHasNone() {
        ProbeScope scope = new ProbeScope(
                new ProbeNumbers(Question.on(List.of())
                                .alsoOn(
                                        FunctionProbe.entry(Path.of("/x"), "parse"),
                                        FunctionProbe.exit(Path.of("/x"), "parse")))
                        .all(),
                false);
        assertThat(scope.find("arg5").orElseThrow()).containsOnlyKeys(1);
        assertThat(scope.find("arg6")).isEmpty();
        assertThat(scope.returns()).containsExactly(2);
    }

    @Test
    void withoutAnyProbeANumberIsReadWhenItComes() {
        ProbeScope scope = new ProbeScope(List.of(), true);
        assertThat(scope.isOpen()).isTrue();
        assertThat(scope.find("arg3").orElseThrow())
                .containsOnlyKeys(Scope.LATER)
                .hasEntrySatisfying(
                        Scope.LATER, argument -> assertThat(argument.index()).isEqualTo(3));
        assertThat(ProbeScope.isNumbered("arg12")).isFalse();
        assertThat(ProbeScope.isNumbered("arg11")).isTrue();
    }
}
