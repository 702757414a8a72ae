package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.output.Paint;
import io.bpf4j.cli.question.Changes.Change;
import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class TopTableTest {
    private final TopTable table = new TopTable();

    private static Change change(Object pid, String comm, long count, long total) {
        Map<String, Object> key = new LinkedHashMap<>();
        key.put("pid", pid);
        key.put("comm", comm);
        return new Change(key, count, total, Map.of());
    }

    private List<String> lines(int rows) {
        return table.lines(rows, OptionalInt.empty(), Paint.NONE);
    }

    @Test
    void rowsAreSortedByTheChosenColumn() {
        BigInteger large = BigInteger.ONE.shiftLeft(63);
        table.update(List.of(change(9L, "b", 4, 10), change(10L, "a", 2, 30), change(large, "a", 6, 20)), 2);
        assertThat(lines(10))
                .containsExactly(
                        "EVENTS/S▼  TOTAL     pid                  comm",
                        "       3         20  9223372036854775808  a",
                        "       2         10  9                    b",
                        "       1         30  10                   a");
        assertThat(table.type("<")).as("around").isTrue();
        assertThat(lines(10).getFirst()).endsWith("comm▼");
        assertThat(lines(10).getLast()).endsWith("b");
        table.type("<");
        assertThat(lines(10)).element(1).asString().as("numbers as numbers").contains("  9  ");
        table.type("r");
        assertThat(lines(10)).element(1).asString().contains(large.toString());
        assertThat(lines(1)).hasSize(2);
    }

    @Test
    void rowsThatDifferInAKeyThatIsLeftOutAreOne() {
        table.update(List.of(change(1L, "a", 4, 10), change(2L, "a", 2, 30), change(3L, "b", 1, 1)), 1);
        assertThat(table.type("1")).isTrue();
        assertThat(lines(10))
                .containsExactly("EVENTS/S▼  TOTAL     comm", "       6         40  a", "       1          1  b");
        assertThat(table.type("2")).isTrue();
        assertThat(lines(10)).hasSize(2);
        assertThat(table.type("1")).isTrue();
        assertThat(lines(10)).hasSize(4);
        assertThat(table.type("3")).as("no such key").isFalse();
        assertThat(table.type("x")).isFalse();
    }
}
