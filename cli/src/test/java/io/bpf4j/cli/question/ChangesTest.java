package io.bpf4j.cli.question;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.cli.question.Changes.Change;
import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ChangesTest {
    private static Answer.Row row(String name, long count, Bucket... buckets) {
        Distribution distribution =
                buckets.length == 0 ? null : new Distribution(true, false, count, 0, 0, 0, Arrays.asList(buckets));
        return new Answer.Row(
                Map.of("comm", name), count, Optional.ofNullable(distribution), Optional.empty(), Optional.empty());
    }

    @Test
    void whatIsNewIsCounted() {
        Changes changes = new Changes();
        assertThat(changes.next(List.of(row("a", 3), row("b", 5))))
                .extracting(Change::count)
                .containsExactly(5L, 3L);
        List<Change> next = changes.next(List.of(row("a", 10), row("b", 5), row("c", 1)));
        assertThat(next).extracting(change -> change.key().get("comm")).containsExactly("a", "c", "b");
        assertThat(next).extracting(Change::count).containsExactly(7L, 1L, 0L);
        assertThat(next).extracting(Change::total).containsExactly(10L, 1L, 5L);
    }

    @Test
    void rowsWithOneKeyAreOneChange() {
        assertThat(new Changes().next(List.of(row("a", 3), row("a", 4))))
                .singleElement()
                .extracting(Change::count)
                .isEqualTo(7L);
    }

    @Test
    void bucketsGrow() {
        Changes changes = new Changes();
        changes.next(List.of(row("a", 3, new Bucket(4, 7, 3))));
        Change change = changes.next(List.of(row("a", 5, new Bucket(4, 7, 3), new Bucket(8, 15, 2))))
                .getFirst();
        assertThat(change.buckets()).isEqualTo(Map.of(8L, 2L));
        Buckets axis = Buckets.of(List.of(
                new Distribution(true, false, 1, 0, 0, 0, List.of(new Bucket(4, 7, 1))),
                new Distribution(
                        true, false, 1, 0, 0, 0, List.of(new Bucket(32, 63, 1), new Bucket(1L << 63, -1, 1)))));
        assertThat(axis.all())
                .as("without gaps, in unsigned order")
                .containsExactly(
                        new Bucket(4, 7, 0),
                        new Bucket(8, 31, 0),
                        new Bucket(32, 63, 0),
                        new Bucket(64, Long.MAX_VALUE, 0),
                        new Bucket(1L << 63, -1, 0));
        assertThat(axis.counts(change)).containsExactly(0, 2, 0, 0, 0);
        assertThat(axis.atMost(2).all()).containsExactly(new Bucket(4, 63, 0), new Bucket(64, -1, 0));
        assertThat(axis.atMost(2).counts(change)).containsExactly(2, 0);
    }
}
