package io.bpf4j.metrics.internal;

import static io.bpf4j.metrics.internal.SampleAnswer.counts;
import static io.bpf4j.metrics.internal.SampleAnswer.key;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.metrics.AnswerMetric;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SeriesReaderTest {
    private final Set<Long> running = new HashSet<>();
    private final AtomicLong now = new AtomicLong();

    private SeriesReader reader(SampleAnswer answer, AnswerMetric metric) {
        return new SeriesReader(answer, metric, running::contains, now::get, Clock.systemUTC());
    }

    @Test
    void aMetricWithoutKeysBeginsWithZero() {
        assertThat(counts(reader(SampleAnswer.counting(), AnswerMetric.named("m"))))
                .isEqualTo(Map.of(key(), 0L));
        Reading reading = reader(SampleAnswer.distributing("ns"), AnswerMetric.named("m"))
                .read()
                .orElseThrow();
        assertThat(reading.series().getFirst().histogram().orElseThrow().count())
                .isZero();
        assertThat(counts(reader(SampleAnswer.counting("pid"), AnswerMetric.named("m"))))
                .isEmpty();
    }

    /** However label values come and go: the sum is that of all events, no series loses one, and no more are there. */
    @Property(tries = 200)
    void theSumStaysRight(
            @ForAll @Size(min = 1, max = 60) List<@IntRange(max = 30) Integer> queries,
            @ForAll @IntRange(min = 1, max = 10) int most) {
        SampleAnswer answer = SampleAnswer.distributing("ns", "query");
        SeriesReader reader = reader(answer, AnswerMetric.named("m").withMaxSeries(most));
        Map<Optional<List<Object>>, Long> before = new HashMap<>();
        for (int i = 0; i < queries.size(); i++) {
            answer.add(1_000, "select " + queries.get(i));
            Reading reading = reader.read().orElseThrow();
            assertThat(reading.series().stream()
                            .mapToLong(Reading.Series::count)
                            .sum())
                    .isEqualTo(i + 1);
            assertThat(reading.series().stream()
                            .mapToLong(
                                    series -> series.histogram().orElseThrow().count())
                            .sum())
                    .isEqualTo(i + 1);
            for (Reading.Series series : reading.series()) {
                assertThat(series.count()).isGreaterThanOrEqualTo(before.getOrDefault(series.values(), 0L));
                before.put(series.values(), series.count());
            }
            long different = queries.subList(0, i + 1).stream().distinct().count();
            assertThat(reading.folded()).isEqualTo(Math.max(0, different - most));
            assertThat(reading.series()).hasSize((int) Math.min(different, most + 1));
        }
    }

    @Test
    void theMostFrequentOfThoseThatAreFoundFirstHaveASeries() {
        SampleAnswer answer = SampleAnswer.counting("query");
        answer.add(0, "rare");
        answer.add(0, "often");
        answer.add(0, "often");
        SeriesReader reader = reader(answer, AnswerMetric.named("m").withMaxSeries(1));
        assertThat(counts(reader)).isEqualTo(Map.of(key("often"), 2L, Optional.empty(), 1L));
        answer.add(0, "rare");
        answer.add(0, "rare");
        assertThat(counts(reader)).isEqualTo(Map.of(key("often"), 2L, Optional.empty(), 3L));
    }

    @Test
    void aSeriesOfAnEndedProcessVanishesAfterAWhileAndMakesRoom() {
        SampleAnswer answer = SampleAnswer.counting("pid");
        AnswerMetric metric = AnswerMetric.named("m").withMaxSeries(1).withStaleAfter(Duration.ofSeconds(60));
        SeriesReader reader = reader(answer, metric);
        running.add(7L);
        answer.add(0, 7L);
        assertThat(counts(reader)).isEqualTo(Map.of(key(7L), 1L));
        now.set(Duration.ofHours(1).toNanos());
        assertThat(counts(reader)).as("it runs").isEqualTo(Map.of(key(7L), 1L));
        answer.add(0, 7L);
        running.clear();
        assertThat(counts(reader)).as("its last event is new").isEqualTo(Map.of(key(7L), 2L));
        now.addAndGet(Duration.ofSeconds(59).toNanos());
        assertThat(counts(reader)).isEqualTo(Map.of(key(7L), 2L));
        now.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(counts(reader)).isEmpty();
        running.add(8L);
        answer.add(0, 8L);
        assertThat(counts(reader)).isEqualTo(Map.of(key(8L), 1L));
        answer.add(0, 7L);
        assertThat(counts(reader)).as("another process has its number").isEqualTo(Map.of(key(7L), 3L, key(8L), 1L));
    }

    /** The clock is set, forwards and back, by up to eleven years; the processes have all ended. */
    @Property(tries = 200)
    void aClockThatJumpsChangesNoCountAndNoSeries(
            @ForAll @Size(min = 1, max = 30) List<@IntRange(min = -100_000, max = 100_000) Integer> hours) {
        Instant[] clock = {Instant.parse("2026-11-29T12:00:00Z")};
        AtomicLong monotonic = new AtomicLong();
        SampleAnswer answer = SampleAnswer.counting("pid");
        AnswerMetric metric = AnswerMetric.named("m").withStaleAfter(Duration.ofMinutes(5));
        SeriesReader reader = new SeriesReader(answer, metric, _ -> false, monotonic::get, () -> clock[0]);
        Instant created = reader.created();
        for (int minute = 0; minute < hours.size(); minute++) {
            clock[0] = clock[0].plus(Duration.ofHours(hours.get(minute)));
            monotonic.set(Duration.ofMinutes(minute).toNanos());
            answer.add(0, (long) minute);
            Map<Optional<List<Object>>, Long> expected = new HashMap<>();
            for (long last = Math.max(0, minute - 4); last <= minute; last++) {
                expected.put(key(last), 1L);
            }
            assertThat(counts(reader)).isEqualTo(expected);
            assertThat(reader.created()).isEqualTo(created);
            assertThat(reader.now()).isEqualTo(clock[0].isBefore(created) ? created : clock[0]);
        }
    }

    @Test
    void aSeriesOfAnEndedUnitVanishesAndComesBackWithItsCount() {
        SampleAnswer answer = SampleAnswer.counting("unit", "comm");
        AnswerMetric metric = AnswerMetric.named("m").withMaxSeries(2).withStaleAfter(Duration.ofSeconds(60));
        SeriesReader reader = reader(answer, metric);
        answer.add(0, "a.service", "x");
        answer.add(0, "b.service", "x");
        assertThat(counts(reader)).hasSize(2);
        now.addAndGet(Duration.ofHours(1).toNanos());
        assertThat(counts(reader)).as("both run").hasSize(2);
        answer.add(0, "a.service", "x");
        answer.end("a.service", false);
        assertThat(counts(reader)).as("its last event is new").hasSize(2);
        now.addAndGet(Duration.ofSeconds(60).toNanos());
        assertThat(counts(reader)).isEqualTo(Map.of(key("b.service", "x"), 1L));
        answer.add(0, "c.service", "x");
        assertThat(counts(reader)).as("it makes room").containsEntry(key("c.service", "x"), 1L);
        answer.end("a.service", true);
        assertThat(counts(reader)).as("it has no event").doesNotContainKey(key("a.service", "x"));
        answer.add(0, "a.service", "x");
        assertThat(counts(reader)).containsEntry(key("a.service", "x"), 3L);
    }

    /** A command may have the name of a unit. */
    @Test
    void seriesWithOtherKeysStay() {
        SampleAnswer answer = SampleAnswer.counting("comm", "begin.unit");
        SeriesReader reader = reader(answer, AnswerMetric.named("m").withStaleAfter(Duration.ZERO));
        answer.add(0, "java", "a.service");
        answer.end("java", false);
        answer.end("a.service", false);
        assertThat(counts(reader)).hasSize(1);
        now.set(Long.MAX_VALUE / 2);
        assertThat(counts(reader)).hasSize(1);
    }

    @Test
    void bytesThatAreNoUtf8AreWritten() {
        SampleAnswer answer = SampleAnswer.counting("comm", "ok");
        answer.add(0, "a\udcffb\ud800", true);
        assertThat(counts(reader(answer, AnswerMetric.named("m")))).isEqualTo(Map.of(key("a\\xffb\ufffd", true), 1L));
    }

    @Test
    void aKeyThatIsNotNamedHasANameOfItsExpression() {
        SampleAnswer answer = SampleAnswer.counting("str(arg0, 16)", "begin.full", "arg1 > 3", "-1", "query ~ \"a*\"");
        assertThat(reader(answer, AnswerMetric.named("m").withLabel("arg1 > 3", "large"))
                        .labels())
                .containsExactly("str_arg0_16", "begin.full", "large", "key_1", "query_a");
    }

    @Test
    void labelsThatDoNotFitAreRefused() {
        SampleAnswer answer = SampleAnswer.counting("begin.pid", "begin_pid");
        assertThatThrownBy(() -> reader(answer, AnswerMetric.named("m")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the label 'begin_pid' of the key begin_pid exists already; give the key another label");
        assertThatThrownBy(() -> reader(
                        SampleAnswer.counting("comm"), AnswerMetric.named("m").withConstant("comm", "java")))
                .hasMessageContaining("the label 'comm' of the key comm exists already");
        assertThatThrownBy(() -> reader(
                        SampleAnswer.counting("comm"), AnswerMetric.named("m").withLabel("com", "command")))
                .isInstanceOf(UnknownNameException.class)
                .hasMessage("no key 'com' in the question of the metric m; the only one is 'comm'");
    }

    @Test
    void aClosedAnswerHasNoReading() {
        SampleAnswer answer = SampleAnswer.counting();
        SeriesReader reader = reader(answer, AnswerMetric.named("m"));
        assertThat(reader.read()).isPresent();
        answer.close();
        assertThat(reader.read()).isEmpty();
    }
}
