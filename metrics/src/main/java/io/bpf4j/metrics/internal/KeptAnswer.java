package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The successive answers of a question as one: the events of the previous answers are kept, and those of the current
 * one are added. Rows of both may have the same key. <i>Confined.</i>
 *
 * <p>Tested by {@code KeptAnswerTest}.
 */
final class KeptAnswer implements AnswerSource {
    /**
     * The maximum number of keys of previous answers. Each answer usually has room for fewer, but a question may be
     * asked again and again.
     */
    static final int MAX_KEYS = 1 << 17;

    private final List<String> keys;
    private final Optional<Distribution> empty;
    private final Optional<String> unit;
    private final Map<Map<String, Object>, Answer.Row> rows = new HashMap<>();
    private final Map<Gap, Long> gaps = new EnumMap<>(Gap.class);

    /** The key of the events for which there was no room. */
    private final Map<String, Object> rest = new LinkedHashMap<>();

    /** The current answer; empty between two answers. */
    private Optional<AnswerSource> present;

    private boolean interrupted;

    /** How a key was exported, which decides what happens to its events if there is no room for it. */
    enum Rank {
        /** The key has its own series, whose count must not decrease. It is kept before others. */
        OWN,
        /** The key has no series. Its events are added to those of other keys, as the key {@link LabelText#OTHER}. */
        NONE,
        /**
         * The series of the key has vanished. Its events are dropped, because in the series of the others they would
         * look like new events.
         */
        VANISHED
    }

    KeptAnswer(AnswerSource first) {
        this.keys = first.keys();
        this.empty = first.emptyDistribution();
        this.unit = first.unit();
        this.present = Optional.of(first);
        keys.forEach(key -> rest.put(key, LabelText.OTHER));
    }

    /**
     * Ends the current answer, and keeps its events. Does nothing between two answers. Beyond {@link #MAX_KEYS} keys,
     * the events of further keys are not kept separately.
     *
     * @return the keys that are not kept separately
     * @throws IllegalStateException if it is closed
     */
    List<Map<String, Object>> keep(Function<Map<String, Object>, Rank> ranks) {
        if (present.isEmpty()) {
            return List.of();
        }
        Map<Map<String, Object>, Answer.Row> more = new HashMap<>();
        present.get().rows().forEach(row -> more.merge(row.key(), row, this::sum));
        present.get().gaps().forEach((gap, count) -> {
            // A begin without an end is no longer open, and was not an event.
            if (gap != Gap.STILL_OPEN) {
                gaps.merge(gap, count, Long::sum);
            }
        });
        List<Map<String, Object>> surplus = surplus(more.keySet(), ranks);
        for (Map<String, Object> key : surplus) {
            Answer.Row row = Objects.requireNonNull(more.remove(key));
            if (ranks.apply(key) != Rank.VANISHED) {
                more.merge(
                        rest,
                        new Answer.Row(rest, row.count(), row.distribution(), Optional.empty(), Optional.empty()),
                        this::sum);
            }
        }
        more.forEach((key, row) -> rows.merge(key, row, this::sum));
        present = Optional.empty();
        interrupted = true;
        return surplus;
    }

    /** The keys for which there is no room. */
    private List<Map<String, Object>> surplus(
            Set<Map<String, Object>> keysOfPresent, Function<Map<String, Object>, Rank> ranks) {
        List<Map<String, Object>> unknown = keysOfPresent.stream()
                .filter(key -> !rows.containsKey(key) && !key.equals(rest))
                .toList();
        long room = MAX_KEYS
                - rows.keySet().stream().filter(key -> !key.equals(rest)).count();
        return unknown.size() <= room
                ? List.of()
                : unknown.stream()
                        .sorted(Comparator.comparing(ranks))
                        .skip(room)
                        .toList();
    }

    /** The sum of two rows with the same key. */
    private Answer.Row sum(Answer.Row one, Answer.Row other) {
        return new Answer.Row(
                one.key(),
                one.count() + other.count(),
                empty.map(all -> all.plus(List.of(distribution(one), distribution(other)))),
                Optional.empty(),
                Optional.empty());
    }

    private static Distribution distribution(Answer.Row row) {
        return row.distribution()
                .orElseThrow(() -> new IllegalArgumentException("a row without the distribution of its answer"));
    }

    /**
     * Continues with another answer.
     *
     * @throws IllegalStateException if the current one was not kept
     * @throws IllegalArgumentException if its rows can't be added to the previous ones
     */
    void goOn(AnswerSource next) {
        if (present.isPresent()) {
            throw new IllegalStateException("the previous answer has not been kept");
        }
        if (!next.keys().equals(keys)
                || !next.unit().equals(unit)
                || !next.emptyDistribution().equals(empty)) {
            throw new IllegalArgumentException(
                    "this is an answer to another question: its keys, unit or buckets differ from those of the previous answer");
        }
        present = Optional.of(next);
    }

    @Override
    public List<String> keys() {
        return keys;
    }

    @Override
    public Optional<Distribution> emptyDistribution() {
        return empty;
    }

    @Override
    public Optional<String> unit() {
        return unit;
    }

    @Override
    public List<Answer.Row> rows() {
        List<Answer.Row> all = new ArrayList<>(rows.values());
        present.ifPresent(answer -> all.addAll(answer.rows()));
        return all;
    }

    @Override
    public Map<Gap, Long> gaps() {
        Map<Gap, Long> all = new EnumMap<>(Gap.class);
        all.putAll(gaps);
        present.ifPresent(answer -> answer.gaps().forEach((gap, count) -> all.merge(gap, count, Long::sum)));
        return all;
    }

    /** Between two answers nothing is read. */
    @Override
    public boolean hasEnded(String key, Object value) {
        return present.map(answer -> answer.hasEnded(key, value)).orElse(false);
    }

    /** Events between two answers are not counted. */
    @Override
    public boolean isExact() {
        return !interrupted && present.map(AnswerSource::isExact).orElse(false);
    }
}
