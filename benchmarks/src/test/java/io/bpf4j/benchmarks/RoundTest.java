package io.bpf4j.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoundTest {
    private static Round round(String... patterns) {
        return new Round(
                RunLength.SMOKE,
                null,
                List.of(patterns).stream().map(Pattern::compile).toList(),
                new Comparison());
    }

    /** Names of methods and classes, and of the rows that programs outside of JMH print. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "AttachBenchmark",
                "AttachBenchmark.attach$",
                "RecordsMain",
                "recordAtFullRate",
                "AtFullRate$",
                "detachByIpMap",
                "listLibraries",
                "dryRunTypes",
                "heapAfterCollection",
                "firstAttachCached"
            })
    void aPatternIsFoundInNamesOfTables(String pattern) {
        assertThat(round(pattern).isEmpty()).isFalse();
        assertThat(round("noSuchBenchmark", pattern).isEmpty()).isFalse();
    }

    @Test
    void aPatternThatIsFoundNowhereMeasuresNothing() {
        assertThat(round("noSuchBenchmark").isEmpty()).isTrue();
        assertThat(round().isEmpty()).as("no pattern").isFalse();
    }

    @Test
    void theNamesThatCanBeAskedForAreKnown() {
        assertThat(Round.names())
                .contains("AttachBenchmark.attach", "RecordsMain.recordAtFullRate", "FirstUseMain.firstLoad")
                .allSatisfy(name ->
                        assertThat(round(Pattern.quote(name) + "$").isEmpty()).isFalse());
    }
}
