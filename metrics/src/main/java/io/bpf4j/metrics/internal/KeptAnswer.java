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
 * The answers that a question has had, one after the other, as one: the events of the former ones are kept, those of the
 * present one are added. Rows of both may have the same key. <i>Confined.</i>
 *
 * <p>Tested by {@code KeptAnswerTest}.
 */
final class KeptAnswer implements AnswerSource {
    /** Keys of former answers, each of which has room for so many, usually: a question may be asked again and again. */
    static final int MAX_KEYS = 1 << 17;

    private final List<String> keys;
    private final Optional<Distribution> empty;
    private final Optional<String> unit;
    private final Map<Map<String, Object>, Answer.Row> rows = new HashMap<>();
    private final Map<Gap, Long> gaps = new EnumMap<>(Gap.class);

    /** The key of what was too much. */
    private final Map<String, Object> rest = new LinkedHashMap<>();

    /** The present one; empty between two. */
    private Optional<AnswerSource> present;

    private boolean interrupted;

    /** What readers have seen of a key, and so what becomes of its events if there is no room for it. */
    enum Rank {
        /** It has a series of its own, which must not become less. It is kept before others. */
        OWN,
        /** It has none. Its events are added up with those of other keys, as the key {@link LabelText#OTHER}. */
        NONE,
        /** Its series has vanished. Its events are forgotten: among the others they would seem to be new ones. */
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
     * Ends the present answer, whose events are kept. Does nothing between two. Of more than {@link #MAX_KEYS} keys, the
     * events of further ones are not kept by themselves.
     *
     * @return the keys that are not kept by themselves
     * @throws IllegalStateException if it is closed
     */
    List<Map<String, Object>> keep(Function<Map<String, Object>, Rank> ranks) {
        if (present.isEmpty()) {
            return List.of();
        }
        Map<Map<String, Object>, Answer.Row> more = new HashMap<>();
        present.get().rows().forEach(row -> more.merge(row.key(), row, this::sum));
        present.get().gaps().forEach((gap, count) -> {
            // What was open has no end any more: it was no event.
            if (gap != Gap.STILL_OPEN) {
                gaps.merge(gap, count, Long::sum);
            }
        });
        List<Map<String, Object>> surplus = surplus(more.keySet(), ranks);
        for (Map<String, Object> key : surplus) {
            Answer.Row row = Objects.requireNonNull(more.remove(key));
            if (ranks.apply(key) != Rank.VANISHED) {
                more.merge(rest, new Answer.Row(rest, row.count(), row.distribution(), null, null), this::sum);
            }
        }
        more.forEach((key, row) -> rows.merge(key, row, this::sum));
        present = Optional.empty();
        interrupted = true;
        return surplus;
    }

    /** Of these keys, those for which there is no room. */
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
                empty.map(all -> all.plus(List.of(distribution(one), distribution(other))))
                        .orElse(null),
                null,
                null);
    }

    private static Distribution distribution(Answer.Row row) {
        Distribution distribution = row.distribution();
        if (distribution == null) {
            throw new IllegalArgumentException("a row without the distribution of its answer");
        }
        return distribution;
    }

    /**
     * Goes on with another answer.
     *
     * @throws IllegalStateException if the present one was not kept
     * @throws IllegalArgumentException if its rows can't be added to those before
     */
    void goOn(AnswerSource next) {
        if (present.isPresent()) {
            throw new IllegalStateException("the answer before has not been kept");
        }
        if (!next.keys().equals(keys)
                || !next.unit().equals(unit)
                || !next.emptyDistribution().equals(empty)) {
            throw new IllegalArgumentException(
                    "this is an answer to another question: its keys, unit or buckets are not those of the answer before");
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

    /** Between two answers nobody looks. */
    @Override
    public boolean hasEnded(String key, Object value) {
        return present.map(answer -> answer.hasEnded(key, value)).orElse(false);
    }

    /** Nobody counts the events between two answers. */
    @Override
    public boolean isExact() {
        return !interrupted && present.map(AnswerSource::isExact).orElse(false);
    }
}
