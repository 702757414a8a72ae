package io.bpf4j.metrics.internal;

import static io.bpf4j.metrics.internal.SampleAnswer.counts;
import static io.bpf4j.metrics.internal.SampleAnswer.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.trace.Gap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class KeptAnswerTest {
    private static SeriesReader reader(SampleAnswer answer) {
        return new SeriesReader(answer, AnswerMetric.named("m"), _ -> true, () -> 0);
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

    @Test
    void noMoreIsKeptThanThereIsRoomFor() {
        KeptAnswer kept = null;
        for (int round = 0; round <= 2; round++) {
            SampleAnswer answer = SampleAnswer.counting("pid");
            for (long pid = 0; pid < KeptAnswer.MAX_KEYS / 2; pid++) {
                answer.add(0, (long) round * (KeptAnswer.MAX_KEYS / 2) + pid);
            }
            if (kept == null) {
                kept = new KeptAnswer(answer);
            } else {
                kept.goOn(answer);
            }
            KeptAnswer full = kept;
            if (round < 2) {
                full.keep();
            } else {
                assertThatThrownBy(full::keep)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("are too many to be kept");
                assertThat(full.rows()).as("nothing is lost by it").hasSize(KeptAnswer.MAX_KEYS * 3 / 2);
            }
        }
    }
}
