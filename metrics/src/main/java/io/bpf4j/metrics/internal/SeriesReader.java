package io.bpf4j.metrics.internal;

import io.bpf4j.loader.error.UnknownNameException;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.trace.Answer;
import java.time.Clock;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Reads an answer as series with labels, and keeps the state that makes them stable from one reading to the next: which
 * combinations of labels have their own series, and when a series had its last event. The state is bounded by the
 * number of keys for which the answer has room ({@link io.bpf4j.trace.Question#withMaxKeys}). <i>Thread-safe.</i>
 */
public final class SeriesReader {
    /** The key that names a process. */
    private static final String PID = "pid";

    /** The keys that name groups of processes. */
    private static final Set<String> GROUPS = Set.of("unit", "container", "pod");

    private final KeptAnswer answer;
    private final AnswerMetric metric;
    private final List<String> keys;
    private final List<String> labels;
    private final BaseUnit unit;
    private final Optional<Buckets> buckets;
    private final LongPredicate isRunning;
    private final LongSupplier nanoTime;
    private final InstantSource clock;
    private final Instant created;
    private final Map<List<Object>, State> states = new HashMap<>();
    private long folded;

    /** The state of a combination of label values. */
    private static final class State {
        /**
         * False if the combination is added to the series {@code other}, and then forever, because no count may
         * decrease.
         */
        private final boolean own;

        private long count;
        private long lastChange;
        private boolean vanished;

        State(boolean own) {
            this.own = own;
        }
    }

    /** The rows with the same label values, added up. */
    private record Total(long count, Optional<Histogram> histogram) {
        Total plus(Total other) {
            return new Total(count + other.count, histogram.flatMap(own -> other.histogram.map(own::plus)));
        }
    }

    /**
     * A reader of a running answer.
     *
     * @throws UnknownNameException if a label is for a key that the question does not have
     * @throws IllegalArgumentException if two keys would have the same label, or the answer has no rows
     */
    public SeriesReader(Answer answer, AnswerMetric metric) {
        this(
                AnswerSource.of(answer),
                metric,
                pid -> ProcessHandle.of(pid).isPresent(),
                System::nanoTime,
                Clock.systemUTC());
    }

    /**
     * For tests.
     *
     * @param nanoTime the monotonic clock, by which series become stale
     * @param clock the clock that can be set, for nothing but the times that are written beside the counts
     */
    public SeriesReader(
            AnswerSource answer,
            AnswerMetric metric,
            LongPredicate isRunning,
            LongSupplier nanoTime,
            InstantSource clock) {
        this.answer = new KeptAnswer(answer);
        this.metric = metric;
        this.isRunning = isRunning;
        this.nanoTime = nanoTime;
        this.clock = clock;
        created = clock.instant();
        keys = answer.keys();
        labels = labels(metric, keys);
        unit = BaseUnit.of(answer.unit());
        buckets = answer.emptyDistribution().map(empty -> new Buckets(empty, unit, metric.bounds()));
    }

    /**
     * The names of the labels for the keys of a question, in order.
     *
     * @throws UnknownNameException if a label is for another key
     * @throws IllegalArgumentException if two keys would have the same label
     */
    public static List<String> labels(AnswerMetric metric, List<String> keys) {
        for (String key : metric.labels().keySet()) {
            if (!keys.contains(key)) {
                throw new UnknownNameException("key", key, "the question of the metric " + metric.name(), keys);
            }
        }
        List<String> named = new ArrayList<>();
        for (String key : keys) {
            String label = metric.labels().getOrDefault(key, LabelText.nameOf(key));
            if (isTaken(label, metric, named)) {
                throw new IllegalArgumentException(
                        "the label '" + label + "' of the key " + key + " exists already; give the key another label");
            }
            named.add(label);
        }
        return List.copyOf(named);
    }

    private static boolean isTaken(String label, AnswerMetric metric, List<String> others) {
        return Stream.concat(others.stream(), metric.constants().keySet().stream())
                .anyMatch(other -> other.replace('.', '_').equals(label.replace('.', '_')));
    }

    /** The names of the labels that come from keys, in order. */
    public List<String> labels() {
        return labels;
    }

    public BaseUnit unit() {
        return unit;
    }

    /** Empty if the question only counts. */
    public Optional<Buckets> buckets() {
        return buckets;
    }

    /** The start time of all series: when this reader was made. */
    public Instant created() {
        return created;
    }

    /** The time of a reading; not before the start, also if the clock was set back. */
    public Instant now() {
        Instant now = clock.instant();
        return now.isBefore(created) ? created : now;
    }

    /**
     * Keeps the events so far, so that the answer may be closed; until {@link #goOn} the series have only these. If
     * there are too many keys, those without their own series are added up.
     *
     * @throws IllegalStateException if the answer is closed
     */
    public synchronized void keep() {
        List<Map<String, Object>> surplus = answer.keep(key -> {
            State state = states.get(values(key));
            return state == null || !state.own
                    ? KeptAnswer.Rank.NONE
                    : state.vanished ? KeptAnswer.Rank.VANISHED : KeptAnswer.Rank.OWN;
        });
        if (surplus.isEmpty()) {
            return;
        }
        Set<List<Object>> kept =
                answer.rows().stream().map(row -> values(row.key())).collect(Collectors.toSet());
        Set<List<Object>> gone = surplus.stream()
                .map(this::values)
                .filter(values -> !kept.contains(values))
                .collect(Collectors.toSet());
        folded += gone.stream()
                .map(states::get)
                .filter(state -> state == null || (state.own && !state.vanished))
                .count();
        // Otherwise the state would grow each time that the question is asked.
        states.keySet().removeAll(gone);
    }

    private List<Object> values(Map<String, Object> key) {
        return keys.stream().map(name -> LabelText.value(key.get(name))).toList();
    }

    /**
     * Adds the events of another answer to those that were kept.
     *
     * @throws IllegalArgumentException if it is an answer to another question
     */
    public synchronized void goOn(AnswerSource next) {
        answer.goOn(next);
    }

    /** The answer as it is now; empty if it is closed. */
    public synchronized Optional<Reading> read() {
        try {
            return Optional.of(reading());
        } catch (IllegalStateException e) {
            // The answer may have been closed meanwhile by another thread.
            return Optional.empty();
        }
    }

    private Reading reading() {
        Map<List<Object>, Total> totals = totals(answer.rows());
        long now = nanoTime.getAsLong();
        totals.forEach((values, total) -> look(values, total, now));
        long room = metric.maxSeries()
                - states.values().stream().filter(s -> s.own && !s.vanished).count();
        // Of the combinations that are new at the same time, those with the most events get a series.
        List<Map.Entry<List<Object>, Total>> unknown = totals.entrySet().stream()
                .filter(entry -> !states.containsKey(entry.getKey()))
                .sorted(Comparator.comparingLong(entry -> -entry.getValue().count()))
                .toList();
        for (Map.Entry<List<Object>, Total> entry : unknown) {
            boolean likeTheRest = isLikeTheRest(entry.getKey());
            State state = new State(!likeTheRest && room-- > 0);
            folded += state.own || likeTheRest ? 0 : 1;
            states.put(entry.getKey(), state);
            look(entry.getKey(), entry.getValue(), now);
        }
        return new Reading(series(totals), folded, answer.gaps(), answer.isExact());
    }

    /**
     * Whether all values are {@code other}. A process can choose these values, and the Prometheus client refuses all
     * metrics if two series have the same labels.
     */
    private static boolean isLikeTheRest(List<Object> values) {
        return !values.isEmpty() && values.stream().allMatch(LabelText.OTHER::equals);
    }

    private Map<List<Object>, Total> totals(List<Answer.Row> rows) {
        Map<List<Object>, Total> totals = new LinkedHashMap<>();
        if (keys.isEmpty()) {
            // A metric without labels begins at 0, so that its first events are an increase.
            totals.put(List.of(), new Total(0, buckets.map(Buckets::empty)));
        }
        for (Answer.Row row : rows) {
            totals.merge(values(row.key()), total(row), Total::plus);
        }
        return totals;
    }

    private Total total(Answer.Row row) {
        return new Total(
                row.count(), row.distribution().flatMap(distribution -> buckets.map(all -> all.of(distribution))));
    }

    private void look(List<Object> values, Total total, long now) {
        State state = states.get(values);
        if (state == null) {
            return;
        }
        if (state.count != total.count()) {
            state.count = total.count();
            state.lastChange = now;
            state.vanished = false;
        }
        // A series that has vanished comes back only with an event: the process or group that has its name now may
        // never have one.
        state.vanished |= now - state.lastChange >= metric.staleAfter().toNanos() && hasEnded(values);
    }

    private boolean hasEnded(List<Object> values) {
        for (int i = 0; i < keys.size(); i++) {
            String key = keys.get(i);
            if (key.equals(PID)
                    ? values.get(i) instanceof Long pid && !isRunning.test(pid)
                    : GROUPS.contains(key) && answer.hasEnded(key, values.get(i))) {
                return true;
            }
        }
        return false;
    }

    private List<Reading.Series> series(Map<List<Object>, Total> totals) {
        List<Reading.Series> series = new ArrayList<>();
        Optional<Total> rest = Optional.empty();
        for (Map.Entry<List<Object>, Total> entry : totals.entrySet()) {
            Total total = entry.getValue();
            State state = states.get(entry.getKey());
            if (state == null || !state.own) {
                rest = Optional.of(rest.map(total::plus).orElse(total));
            } else if (!state.vanished) {
                series.add(new Reading.Series(Optional.of(entry.getKey()), total.count(), total.histogram()));
            }
        }
        rest.ifPresent(total -> series.add(new Reading.Series(Optional.empty(), total.count(), total.histogram())));
        return series;
    }
}
