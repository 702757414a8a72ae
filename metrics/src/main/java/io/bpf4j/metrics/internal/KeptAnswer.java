package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Gap;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

    /** The present one; empty between two. */
    private Optional<AnswerSource> present;

    private boolean interrupted;

    KeptAnswer(AnswerSource first) {
        this.keys = first.keys();
        this.empty = first.emptyDistribution();
        this.unit = first.unit();
        this.present = Optional.of(first);
    }

    /**
     * Ends the present answer, whose events are kept. Does nothing between two.
     *
     * @throws IllegalStateException if it is closed, or there are too many keys
     */
    void keep() {
        if (present.isEmpty()) {
            return;
        }
        Map<Map<String, Object>, Answer.Row> more = new HashMap<>();
        present.get().rows().forEach(row -> more.merge(row.key(), row, this::sum));
        if (more.keySet().stream().filter(key -> !rows.containsKey(key)).count() + rows.size() > MAX_KEYS) {
            throw new IllegalStateException("the events of more than " + MAX_KEYS
                    + " combinations of keys are too many to be kept until the question is asked again");
        }
        present.get().gaps().forEach((gap, count) -> {
            // What was open has no end any more: it was no event.
            if (gap != Gap.STILL_OPEN) {
                gaps.merge(gap, count, Long::sum);
            }
        });
        more.forEach((key, row) -> rows.merge(key, row, this::sum));
        present = Optional.empty();
        interrupted = true;
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
