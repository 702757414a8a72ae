package io.bpf4j.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RecordValuesTest {
    record Query(int pid, long arg1, String text, boolean shared, double share, BigInteger hash, Object any) {}

    record Pair(int pid, int tid) {}

    record Positive(long number) {
        Positive {
            if (number < 0) {
                throw new IllegalArgumentException("negative");
            }
        }
    }

    record TableRows(String tableName, long rowCount) {}

    private static Map<String, Object> values(Object... pairs) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            values.put((String) pairs[i], pairs[i + 1]);
        }
        return values;
    }

    private static Answer.Event event(Map<String, Object> values, boolean unreadable) {
        return new Answer.Event(1, "p:n", 2, 3, "comm", 0, values, unreadable);
    }

    @Test
    void eachKindOfValueHasItsType() {
        Map<String, Object> values = values(
                "pid",
                7L,
                "arg1",
                -1L,
                "str(arg2)",
                "select",
                "shared",
                true,
                "arg3 / 2.0",
                0.5,
                "hash",
                9L,
                "arg5",
                3L);
        assertThat(event(values, false).as(Query.class))
                .isEqualTo(new Query(7, -1, "select", true, 0.5, BigInteger.valueOf(9), 3L));
        BigInteger large = BigInteger.TWO.pow(63);
        values.put("hash", large);
        assertThat(new Answer.Row(values, 1, Optional.empty(), Optional.empty(), Optional.empty())
                        .keyAs(Query.class)
                        .hash())
                .isEqualTo(large);
    }

    @Test
    void namesOfSeveralWordsAreWrittenInEitherWay() {
        assertThat(RecordValues.of(TableRows.class, values("table_name", "t", "rowCount", 2L)))
                .isEqualTo(new TableRows("t", 2));
    }

    @Test
    void namesInAnotherOrderAreRefused() {
        assertThatThrownBy(() -> RecordValues.of(Pair.class, values("tid", 1L, "pid", 2L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "component pid of record " + Pair.class.getName()
                                + " stands where the expression tid is expected: rename the component, or put both in the same order");
    }

    @Test
    void anotherNumberOfComponentsIsRefused() {
        assertThatThrownBy(() -> RecordValues.of(Pair.class, values("pid", 1L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 2 components, but the question has 1 expressions: [pid]");
    }

    @Test
    void aValueThatDoesNotFitIsRefused() {
        assertThatThrownBy(() -> RecordValues.of(Pair.class, values("pid", 1L << 32, "tid", 1L)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("component pid of record")
                .hasMessageContaining("is of int, which can't have the value 4294967296 of pid (Long)");
        assertThatThrownBy(() -> RecordValues.of(Pair.class, values("pid", "one", "tid", 1L)))
                .hasMessageContaining("can't have the value one of pid (String)");
        assertThatThrownBy(() -> RecordValues.of(Positive.class, values("arg0", -1L)))
                .hasMessageContaining("refuses [-1]")
                .hasRootCauseMessage("negative");
    }

    @Test
    void anUnreadableEventHasNoRecord() {
        assertThatThrownBy(() -> event(Map.of(), true).as(Pair.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("could not be read");
    }
}
