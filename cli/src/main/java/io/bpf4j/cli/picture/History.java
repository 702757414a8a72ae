package io.bpf4j.cli.picture;

import io.bpf4j.cli.question.Changes;
import io.bpf4j.trace.Answer;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The events of each interval of a run. Its size is bounded: if there are too many intervals, neighbouring ones are
 * joined, and an interval has only the keys with the most events. <i>Confined.</i>
 *
 * <p>Tested by {@code AnswerPageTest}.
 */
public final class History {
    private static final int MAX_INTERVALS = 120;
    private static final int MAX_KEYS = 50;

    private final Changes changes = new Changes();
    private final List<Interval> intervals = new ArrayList<>();
    /** The number of intervals that are joined to one, and of those that the last one contains. */
    private int joined = 1;

    private int joinedInLast;

    /** The events of an interval that ended at a time of day; the keys with the most events come first. */
    record Interval(LocalTime end, List<Changes.Change> changes) {
        private Interval plus(Interval later) {
            Map<Map<String, Object>, Changes.Change> sums = new LinkedHashMap<>();
            changes.forEach(change -> sums.put(change.key(), change));
            later.changes.forEach(change -> sums.merge(change.key(), change, Changes.Change::plus));
            return new Interval(later.end, withMostEvents(List.copyOf(sums.values())));
        }
    }

    private static List<Changes.Change> withMostEvents(List<Changes.Change> changes) {
        return changes.stream()
                .filter(change -> change.count() > 0)
                .sorted(Comparator.comparingLong(Changes.Change::count).reversed())
                .limit(MAX_KEYS)
                .toList();
    }

    /** Adds an interval that has just ended. */
    public void add(LocalTime now, List<Answer.Row> rows) {
        Interval interval = new Interval(now, withMostEvents(changes.next(rows)));
        if (!intervals.isEmpty() && joinedInLast < joined) {
            intervals.add(intervals.removeLast().plus(interval));
            joinedInLast++;
            return;
        }
        intervals.add(interval);
        joinedInLast = 1;
        if (intervals.size() > MAX_INTERVALS) {
            for (int i = 0; i + 1 < intervals.size(); i++) {
                intervals.set(i, intervals.get(i).plus(intervals.remove(i + 1)));
            }
            joined *= 2;
            // The last interval has no neighbour.
            joinedInLast = joined / 2;
        }
    }

    List<Interval> intervals() {
        return List.copyOf(intervals);
    }
}
