package io.bpf4j.metrics.internal;

import static io.bpf4j.metrics.internal.SampleAnswer.counts;
import static io.bpf4j.metrics.internal.SampleAnswer.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.trace.Gap;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class KeptAnswerTest {
    private static SeriesReader reader(SampleAnswer answer) {
        return new SeriesReader(answer, AnswerMetric.named("m"), _ -> true, () -> 0, Clock.systemUTC());
    }

    @Test
    void theNextAnswerIsAddedToThoseBefore() {
        SampleAnswer first = SampleAnswer.counting("comm");
        SeriesReader reader = reader(first);
        first.add(0, "java");
        first.add(0, "sh");
        assertThat(reader.read().orElseThrow().exact()).isTrue();
        reader.keep();
        first.close();
        assertThat(counts(reader)).isEqualTo(Map.of(key("java"), 1L, key("sh"), 1L));
        for (long round = 2; round < 5; round++) {
            SampleAnswer next = SampleAnswer.counting("comm");
            reader.goOn(next);
            next.add(0, "java");
            assertThat(counts(reader)).isEqualTo(Map.of(key("java"), round, key("sh"), 1L));
            assertThat(reader.read().orElseThrow().exact())
                    .as("events of the time between are missing")
                    .isFalse();
            reader.keep();
            reader.keep();
            next.close();
        }
    }

    @Test
    void theSumsOfDistributionsAreThoseOfAllEvents() {
        SampleAnswer first = SampleAnswer.distributing("ns", "comm");
        SampleAnswer all = SampleAnswer.distributing("ns", "comm");
        SampleAnswer next = SampleAnswer.distributing("ns", "comm");
        SeriesReader reader = reader(first);
        for (long value : new long[] {1, 900, 70_000, 1L << 40}) {
            first.add(value, "java");
            all.add(value, "java");
        }
        reader.keep();
        reader.goOn(next);
        next.add(800, "java");
        all.add(800, "java");
        next.add(5, "sh");
        all.add(5, "sh");
        reader.keep();
        assertThat(distributions(reader)).isEqualTo(distributions(reader(all)));
    }

    private static Map<Optional<List<Object>>, List<Object>> distributions(SeriesReader reader) {
        return reader.read().orElseThrow().series().stream()
                .collect(Collectors.toMap(Reading.Series::values, series -> {
                    Histogram histogram = series.histogram().orElseThrow();
                    return List.of(series.count(), histogram.sum(), histogram.exponential());
                }));
    }

    @Test
    void missingEventsAreAddedUp() {
        SampleAnswer first = SampleAnswer.counting("comm");
        first.lose(Gap.NO_ROOM_FOR_KEY, 3);
        first.lose(Gap.STILL_OPEN, 2);
        SeriesReader reader = reader(first);
        reader.keep();
        SampleAnswer next = SampleAnswer.counting("comm");
        next.lose(Gap.NO_ROOM_FOR_KEY, 4);
        reader.goOn(next);
        assertThat(reader.read().orElseThrow().gaps()).isEqualTo(Map.of(Gap.NO_ROOM_FOR_KEY, 7L));
    }

    @Test
    void anotherQuestionIsRefused() {
        SeriesReader reader = reader(SampleAnswer.distributing("ns", "comm"));
        assertThatThrownBy(() -> reader.goOn(SampleAnswer.distributing("ns", "comm")))
                .isInstanceOf(IllegalStateException.class);
        reader.keep();
        for (SampleAnswer other : List.of(
                SampleAnswer.distributing("ns", "pid"),
                SampleAnswer.distributing("bytes", "comm"),
                SampleAnswer.counting("comm"))) {
            assertThatThrownBy(() -> reader.goOn(other))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageStartingWith("this is an answer to another question");
        }
    }

    private static final int HALF = KeptAnswer.MAX_KEYS / 2;

    private static SampleAnswer ofProcesses(long from, long number) {
        SampleAnswer answer = SampleAnswer.counting("pid");
        LongStream.range(from, from + number).forEach(pid -> answer.add(0, pid));
        return answer;
    }

    /** What is too much does not end the question: no event is lost, and no series becomes less. */
    @Test
    void noMoreIsKeptThanThereIsRoomFor() {
        SeriesReader reader = reader(ofProcesses(0, HALF));
        Map<Optional<List<Object>>, Long> first = counts(reader);
        reader.keep();
        reader.goOn(ofProcesses(HALF, HALF));
        reader.keep();
        assertThat(counts(reader)).containsAllEntriesOf(withoutRest(first));
        long foldedBefore = reader.read().orElseThrow().folded();
        // Ten of these are known.
        reader.goOn(ofProcesses(2L * HALF - 10, HALF));
        Map<Optional<List<Object>>, Long> last = counts(reader);
        reader.keep();
        Map<Optional<List<Object>>, Long> kept = counts(reader);
        assertThat(kept).isEqualTo(last).containsAllEntriesOf(withoutRest(first));
        assertThat(kept.values().stream().mapToLong(Long::longValue).sum()).isEqualTo(3L * HALF);
        assertThat(reader.read().orElseThrow().folded()).isGreaterThanOrEqualTo(foldedBefore + HALF - 10);
        reader.goOn(ofProcesses(0, 5));
        assertThat(counts(reader)).containsEntry(key(0L), first.getOrDefault(key(0L), 0L) + 1);
    }

    private static Map<Optional<List<Object>>, Long> withoutRest(Map<Optional<List<Object>>, Long> counts) {
        Map<Optional<List<Object>>, Long> own = new HashMap<>(counts);
        Long _ = own.remove(Optional.<List<Object>>empty());
        return own;
    }

    private static KeptAnswer kept(SampleAnswer answer, Function<Map<String, Object>, KeptAnswer.Rank> ranks) {
        KeptAnswer kept = new KeptAnswer(answer);
        assertThat(kept.keep(ranks)).hasSize(answer.rows().size() - KeptAnswer.MAX_KEYS);
        return kept;
    }

    @Test
    void aKeyWithASeriesIsKeptBeforeOthers() {
        KeptAnswer kept = kept(
                ofProcesses(0, KeptAnswer.MAX_KEYS + 10),
                key -> key.equals(Map.of("pid", 7L)) ? KeptAnswer.Rank.OWN : KeptAnswer.Rank.NONE);
        assertThat(kept.rows())
                .hasSize(KeptAnswer.MAX_KEYS + 1)
                .anyMatch(row -> row.key().equals(Map.of("pid", 7L)))
                .filteredOn(row -> row.key().equals(Map.of("pid", LabelText.OTHER)))
                .singleElement()
                .satisfies(row -> assertThat(row.count()).isEqualTo(10));
    }

    /** Among the others its events would seem to be new ones. */
    @Test
    void theSeriesThatHasVanishedIsForgotten() {
        KeptAnswer kept = kept(
                ofProcesses(0, KeptAnswer.MAX_KEYS + 1),
                key -> key.equals(Map.of("pid", 7L)) ? KeptAnswer.Rank.VANISHED : KeptAnswer.Rank.NONE);
        assertThat(kept.rows())
                .hasSize(KeptAnswer.MAX_KEYS)
                .noneMatch(row -> row.key().equals(Map.of("pid", 7L)))
                .noneMatch(row -> row.key().equals(Map.of("pid", LabelText.OTHER)));
    }

    @Test
    void distributionsAreAddedUp() {
        SampleAnswer answer = SampleAnswer.distributing("ns", "pid");
        LongStream.range(0, KeptAnswer.MAX_KEYS + 2L).forEach(pid -> answer.add(5, pid));
        assertThat(kept(answer, _ -> KeptAnswer.Rank.NONE).rows())
                .filteredOn(row -> row.key().equals(Map.of("pid", LabelText.OTHER)))
                .singleElement()
                .satisfies(row ->
                        assertThat(row.distribution().orElseThrow().sum()).isEqualTo(10));
    }
}
