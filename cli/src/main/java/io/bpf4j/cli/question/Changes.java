package io.bpf4j.cli.question;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.Distribution;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Finds the events that an answer gained between two calls; the counts of an answer only grow. <i>Confined.</i>
 *
 * <p>Tested by {@code ChangesTest}.
 */
public final class Changes {
    private Map<Map<String, Object>, Change> before = Map.of();

    /**
     * New events with one combination of keys. <i>Immutable.</i>
     *
     * @param key the keys
     * @param count new events
     * @param total all events so far
     * @param buckets the number of new events by the smallest value of their range; empty if the question only counts
     */
    public record Change(Map<String, Object> key, long count, long total, Map<Long, Long> buckets) {
        static Change of(Answer.Row row) {
            Map<Long, Long> buckets = new HashMap<>();
            row.distribution()
                    .map(Distribution::rows)
                    .orElse(List.of())
                    .forEach(bucket -> buckets.put(bucket.from(), bucket.count()));
            return new Change(row.key(), row.count(), row.count(), buckets);
        }

        /** The sum of two changes with the same keys, such as those of two stacks. */
        public Change plus(Change other) {
            Map<Long, Long> sums = new HashMap<>(buckets);
            other.buckets.forEach((from, events) -> sums.merge(from, events, Long::sum));
            return new Change(key, count + other.count, total + other.total, sums);
        }

        private Change since(Change earlier) {
            Map<Long, Long> grown = new HashMap<>();
            buckets.forEach((from, events) -> {
                long more = events - earlier.buckets.getOrDefault(from, 0L);
                if (more > 0) {
                    grown.put(from, more);
                }
            });
            return new Change(key, count - earlier.count, total, grown);
        }
    }

    /** The new events of each key since the last call, in descending order of their number, which may be 0. */
    public List<Change> next(List<Answer.Row> rows) {
        Map<Map<String, Object>, Change> now = new LinkedHashMap<>();
        rows.forEach(row -> now.merge(row.key(), Change.of(row), Change::plus));
        List<Change> changes = new ArrayList<>();
        now.forEach((key, change) -> {
            Change earlier = before.get(key);
            changes.add(earlier == null ? change : change.since(earlier));
        });
        before = now;
        changes.sort(Comparator.comparingLong(Change::count).reversed().thenComparing(Change::key, AnswerValues.KEYS));
        return changes;
    }
}
