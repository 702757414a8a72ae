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
    private static final int MOST_INTERVALS = 120;
    private static final int MOST_KEYS = 50;

    private final Changes changes = new Changes();
    private final List<Interval> intervals = new ArrayList<>();
    private int together = 1;
    private int inLast;

    /** The events of an interval that ended at a time of day; the keys with the most events come first. */
    record Interval(LocalTime end, List<Changes.Change> changes) {
        private Interval plus(Interval later) {
            Map<Map<String, Object>, Changes.Change> sums = new LinkedHashMap<>();
            changes.forEach(change -> sums.put(change.key(), change));
            later.changes.forEach(change -> sums.merge(change.key(), change, Changes.Change::plus));
            return new Interval(later.end, most(List.copyOf(sums.values())));
        }
    }

    private static List<Changes.Change> most(List<Changes.Change> changes) {
        return changes.stream()
                .filter(change -> change.count() > 0)
                .sorted(Comparator.comparingLong(Changes.Change::count).reversed())
                .limit(MOST_KEYS)
                .toList();
    }

    /** Adds an interval that has just ended. */
    public void add(LocalTime now, List<Answer.Row> rows) {
        Interval interval = new Interval(now, most(changes.next(rows)));
        if (!intervals.isEmpty() && inLast < together) {
            intervals.add(intervals.removeLast().plus(interval));
            inLast++;
            return;
        }
        intervals.add(interval);
        inLast = 1;
        if (intervals.size() > MOST_INTERVALS) {
            for (int i = 0; i + 1 < intervals.size(); i++) {
                intervals.set(i, intervals.get(i).plus(intervals.remove(i + 1)));
            }
            together *= 2;
            // The last interval has no neighbour.
            inLast = together / 2;
        }
    }

    List<Interval> intervals() {
        return List.copyOf(intervals);
    }
}
