package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.internal.expression.Expression;
import io.bpf4j.trace.internal.expression.GeneratedFunction;
import io.bpf4j.trace.internal.expression.Tables;
import io.bpf4j.usdt.ProbePattern;
import io.bpf4j.usdt.UsdtException;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtArg;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each check alone; CompiledQuestionTest has them in questions. */
class LaterProbesTest {
    private static final UsdtProbe KNOWN = SampleProbe.of("query", SampleProbe.WIDE);

    private final ProbeNumbers numbers =
            new ProbeNumbers(Question.on(List.of(KNOWN)).expecting(List.of(ProbePattern.parse("db:*"))));

    private LaterProbes later(String condition) {
        return new LaterProbes(
                List.of(GeneratedFunction.predicate(
                        Expression.parse(condition), new ProbeScope(numbers.all(), true), new Tables())),
                numbers.all().size());
    }

    private void check(String condition, UsdtProbe probe) {
        later(condition).check(probe, (int) numbers.cookie(probe));
    }

    private void assertRefused(String condition, UsdtProbe probe, String reason) {
        assertThatThrownBy(() -> check(condition, probe))
                .isInstanceOf(UsdtException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void whatReadsNoArgumentTakesEachProbe() {
        assertThatCode(() -> check("pid > 3", SampleProbe.of("other", SampleProbe.WIDE.withFloat())))
                .doesNotThrowAnyException();
    }

    @Test
    void aKnownProbeKeepsItsSign() {
        assertRefused("arg0 > 3", SampleProbe.of("query", SampleProbe.SIGNED), "arg0 is a signed number");
        UsdtArg constant = UsdtArg.signed(8, new UsdtArg.Constant(7));
        assertThatCode(() -> check("arg0 > 3", SampleProbe.of("query", constant)))
                .as("a constant that is not negative reads the same")
                .doesNotThrowAnyException();
        assertThatCode(() -> check("arg0 > 3", SampleProbe.of("later", SampleProbe.SIGNED)))
                .as("its sites decide")
                .doesNotThrowAnyException();
    }

    @Test
    void aWholeNumberThatBecameAFloatingPointNumberIsRefused() {
        assertRefused(
                "arg0 > 3",
                SampleProbe.of("query", SampleProbe.WIDE.withFloat()),
                "a floating-point number of 8 bytes");
    }

    @Test
    void aComparisonOfANameIsRefusedIfItWouldBeTrue() {
        String condition = "probe == \"db:later\" || pid > 3";
        assertRefused(condition, SampleProbe.of("later"), "the question compares names of probes");
        assertThatCode(() -> check(condition, SampleProbe.of("other"))).doesNotThrowAnyException();
        assertThatCode(() -> check("probe == \"db:query\"", KNOWN))
                .as("its number is compared")
                .doesNotThrowAnyException();
    }
}
