package io.bpf4j.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnswerMetricTest {
    @ParameterizedTest
    @ValueSource(strings = {"", "1a", "a-b", "a b", "a..b", ".a", "a.", "a{b=\"c\"}", "a\nb", "ä"})
    void aNameThatALibraryWouldRefuseIsRefused(String name) {
        assertThatThrownBy(() -> AnswerMetric.named(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not a valid metric name");
        assertThatThrownBy(() -> AnswerMetric.named("m").withLabel("key", name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not a valid label name");
    }

    @ParameterizedTest
    @ValueSource(strings = {"le", "quantile", "__name__", "_.a"})
    void labelsWithAMeaningOfTheirOwnAreRefused(String label) {
        assertThatThrownBy(() -> AnswerMetric.named("m").withConstant(label, "x"))
                .hasMessageContaining("is not a valid label name");
    }

    @Test
    void labelsDifferAlsoForPrometheus() {
        AnswerMetric metric = AnswerMetric.named("m").withLabel("arg0", "db.name");
        assertThatThrownBy(() -> metric.withConstant("db_name", "x")).hasMessage("two labels have the name 'db_name'");
        assertThatThrownBy(() -> metric.withLabel("arg1", "db_name")).hasMessage("two labels have the name 'db_name'");
        assertThat(metric.withLabel("arg0", "db_name").labels())
                .containsEntry("arg0", "db_name")
                .hasSize(1);
        assertThat(metric.withConstant("a", "1").withConstant("a", "2").constants())
                .containsEntry("a", "2")
                .hasSize(1);
    }

    @Test
    void boundsAscend() {
        AnswerMetric metric = AnswerMetric.named("m");
        assertThat(metric.bounds()).isEmpty();
        assertThat(metric.withBounds(0.1, 1).bounds()).containsExactly(0.1, 1.0);
        for (double[] wrong : new double[][] {{}, {1, 1}, {2, 1}, {Double.NaN}, {1, Double.POSITIVE_INFINITY}}) {
            assertThatThrownBy(() -> metric.withBounds(wrong)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void limitsAreSound() {
        AnswerMetric metric = AnswerMetric.named("m");
        assertThatThrownBy(() -> metric.withMaxSeries(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> metric.withStaleAfter(Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void anotherWithTheSameValuesIsEqual() {
        assertThat(AnswerMetric.named("m").withBounds(1, 2).withHelp("h"))
                .isEqualTo(AnswerMetric.named("m").withHelp("h").withBounds(1, 2))
                .hasSameHashCodeAs(AnswerMetric.named("m").withHelp("h").withBounds(1, 2))
                .isNotEqualTo(AnswerMetric.named("m").withBounds(1, 3).withHelp("h"));
    }
}
