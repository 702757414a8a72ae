package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.usdt.ProbePattern;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The numbers are in the cookies, beside the part that a probe has in the question: bits of {@code question.h}. */
class ProbeNumbersTest {
    private static final long BEGIN = 1L << 33;
    private static final long END = 1L << 34;
    private static final long RETURN = 1L << 32;
    private static final long CALL = 1L << 35;

    @Test
    void aProbeHasOneNumberForEachNumberOfArguments() {
        ProbeNumbers numbers = new ProbeNumbers(Question.on(List.of(
                SampleProbe.of("query", SampleProbe.WIDE),
                SampleProbe.of("query", SampleProbe.WIDE, SampleProbe.WIDE),
                SampleProbe.of("query", SampleProbe.SIGNED),
                SampleProbe.of("done"))));
        assertThat(numbers.all()).extracting(ProbeNumbers.Known::number).containsExactly(1, 2, 3);
        assertThat(numbers.cookie(SampleProbe.of("query", SampleProbe.SIGNED))).isEqualTo(1);
        assertThat(numbers.cookie(SampleProbe.of("query", SampleProbe.SIGNED, SampleProbe.SIGNED)))
                .isEqualTo(2);
        assertThat(numbers.cookie(SampleProbe.of("done"))).isEqualTo(3);
        assertThat(numbers.name(2)).isEqualTo("db:query");
        assertThat(numbers.name(4)).isEqualTo("?");
        assertThat(numbers.name(0)).isEqualTo("?");
    }

    @Test
    void anotherVersionHasTheNumberOfTheFirst() {
        ProbeNumbers numbers = new ProbeNumbers(Question.on(List.of(SampleProbe.of("query", SampleProbe.WIDE))));
        assertThat(numbers.cookie(SampleProbe.of("query"))).isEqualTo(1);
        assertThat(numbers.cookie(SampleProbe.of("other"))).as("a new number").isEqualTo(2);
        assertThat(numbers.name(2)).isEqualTo("db:other");
    }

    @Test
    void aPairsBeginAndEndAreMarked() {
        ProbeNumbers numbers = new ProbeNumbers(
                Question.on(List.of(SampleProbe.of("begin"), SampleProbe.of("end"), SampleProbe.of("beside")))
                        .latency("db:begin", "db:end"));
        assertThat(numbers.cookie(SampleProbe.of("begin"))).isEqualTo(1 | BEGIN);
        assertThat(numbers.cookie(SampleProbe.of("end"))).isEqualTo(2 | END);
        assertThat(numbers.uses(SampleProbe.of("beside"))).isFalse();
        assertThat(numbers.arePairs()).isTrue();
        assertThat(numbers.mustRunFirst(SampleProbe.of("begin"))).isTrue();
        assertThat(numbers.mustRunFirst(SampleProbe.of("end"))).isFalse();
        assertThat(numbers.nameOfBegin(1 | BEGIN)).isEqualTo("db:begin");
    }

    @Test
    void entryAndReturnOfOneFunctionHaveTheNumberOfTheReturn() {
        FunctionProbe entry = FunctionProbe.entry(Path.of("/x"), "parse");
        FunctionProbe exit = FunctionProbe.exit(Path.of("/x"), "parse");
        ProbeNumbers numbers =
                new ProbeNumbers(Question.on(List.of()).alsoOn(entry, exit).latency("u:parse", "ur:parse"));
        assertThat(numbers.cookie(entry, true, 0)).isEqualTo(2 | BEGIN | CALL);
        assertThat(numbers.cookie(exit, true, 7)).isEqualTo(2 | END | RETURN | 7L << 40);
        assertThat(numbers.arePairs()).as("a call returns after its entry").isFalse();
        assertThat(numbers.nameOfBegin(2)).isEqualTo("u:parse");
        FunctionProbe other = FunctionProbe.entry(Path.of("/x"), "print");
        assertThatThrownBy(() -> numbers.require(List.of(other)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("the question is not about ");
    }

    @Test
    void expectedProbesOfTheCatalogHaveNumbersBeforeAFileAppears() {
        Catalog catalog = Catalog.parse("test", "provider db\n\nprobe query(id: u64)\n  A query.\n");
        ProbeNumbers numbers = new ProbeNumbers(Question.on(List.of())
                .withCatalog(catalog)
                .expecting(List.of(ProbePattern.parse("db:*")))
                .where("probe != \"db:named\""));
        assertThat(numbers.all()).extracting(ProbeNumbers.Known::fullName).containsExactly("db:query", "db:named");
        assertThat(numbers.cookie(SampleProbe.of("query", SampleProbe.WIDE))).isEqualTo(1);
    }

    @Test
    void theFirstNumberOfAProviderStandsForIt() {
        ProbeNumbers numbers = new ProbeNumbers(Question.on(List.of(SampleProbe.of("a"), SampleProbe.of("b"))));
        assertThat(numbers.firstOfProvider(2)).isEqualTo(1);
        assertThat(numbers.firstOfProvider(9)).as("not known").isEqualTo(9);
    }
}
