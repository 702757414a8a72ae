package io.bpf4j.cli.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MetricNamesTest {
    private static List<Mistake> check(String... names) {
        List<Mistake> mistakes = new ArrayList<>();
        MetricNames.check(
                IntStream.range(0, names.length)
                        .mapToObj(i -> new ConfigLine(i + 1, List.of(names[i])))
                        .toList(),
                mistakes::add);
        return mistakes;
    }

    @Test
    void namesThatDifferAreFree() {
        assertThat(check("a", "b_seconds", "a_b", "bpf4js")).isEmpty();
    }

    @Test
    void aNameThatPrometheusWouldSeeTwiceIsRefused() {
        for (List<String> pair : List.of(
                List.of("a", "a"),
                List.of("a.b", "a_b"),
                List.of("a", "a_total"),
                List.of("a", "a_seconds"),
                List.of("a_gaps_total", "a"),
                List.of("a_exact", "a"))) {
            assertThat(check(pair.getFirst(), "x", pair.getLast()))
                    .singleElement()
                    .satisfies(mistake -> {
                        assertThat(mistake.line()).isEqualTo(3);
                        assertThat(mistake.text())
                                .startsWith("the metric " + pair.getLast() + " would be exported as ")
                                .contains(", like the metric " + pair.getFirst() + " of line 1: ");
                    });
        }
    }

    @Test
    void theNamesOfTheAgentAreItsOwn() {
        assertThat(check("bpf4j.question_up", "bpf4j", "bpf4j_x"))
                .extracting(Mistake::line)
                .containsExactly(1, 2, 3);
        assertThat(check("process.open_fds", "jvm_memory_used", "process_cpu", "process_x", "jvm_gc_pause"))
                .extracting(Mistake::line)
                .containsExactly(1, 2, 3);
    }
}
