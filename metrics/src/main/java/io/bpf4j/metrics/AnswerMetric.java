package io.bpf4j.metrics;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The description of a metric that is made from an answer: names, labels, bounds and limits. The rest comes from the
 * answer: a question that counts becomes a counter, and one that distributes values or times becomes a histogram in the
 * base unit of its values, seconds or bytes, if the catalog has the unit. <i>Immutable.</i>
 *
 * <p>Names of metrics and labels consist of the letters a to z, digits, {@code _} and {@code .}. For Prometheus a
 * {@code .} becomes {@code _}, and the expected suffixes are added: {@code jvm.gc.pause} is {@code
 * jvm_gc_pause_seconds} there.
 */
public sealed interface AnswerMetric permits Settings {
    /**
     * A metric with a label for each key of its question. A label has the text of the key's expression, with {@code _}
     * for each character that a name can't have: {@code begin.full} stays, and {@code str(arg0)} is {@code str_arg0}.
     *
     * @throws IllegalArgumentException if it is not a valid metric name
     */
    static AnswerMetric named(String name) {
        return new Settings(Settings.metricName(name), "", Map.of(), Map.of(), List.of(), 1_000, Duration.ofMinutes(5));
    }

    /** Sets the help text of the metric. */
    AnswerMetric withHelp(String help);

    /**
     * The name of the label for a key.
     *
     * @param key the expression, as it was given to {@link io.bpf4j.trace.Question#by}
     * @throws IllegalArgumentException if it is not a valid label name, or another label has it
     */
    AnswerMetric withLabel(String key, String label);

    /**
     * A label with the same value in all series.
     *
     * @throws IllegalArgumentException as {@link #withLabel}
     */
    AnswerMetric withConstant(String label, String value);

    /**
     * The upper bounds of the buckets of a classic or explicit histogram, in seconds, bytes or the values' own unit.
     * Each becomes the end of the bucket of the answer in which it is, so that the count of each bound is exact for the
     * bound that the metric shows: without {@link io.bpf4j.trace.Question#linear linear buckets} it
     * is less than 25 % larger. Without this, there are up to 20 bounds: a power of four apart from 1 us to
     * 17 s or from 16 to 2^28, or the ends of the linear buckets.
     *
     * @throws IllegalArgumentException if there is none, or they are not finite and ascending
     */
    AnswerMetric withBounds(double... bounds);

    /**
     * The number of series for label values that come from keys; 1,000 without this. The events of further combinations are in one more
     * series, in which these labels have the value {@code other}, so the sum over all series stays right. The first
     * combinations keep their series. Series that have vanished make room.
     *
     * @throws IllegalArgumentException if it is less than 1
     */
    AnswerMetric withMaxSeries(int maxSeries);

    /**
     * How long a series stays after what its key names has ended; 5 minutes without this. A series with the key {@code
     * pid}, {@code unit}, {@code container} or {@code pod} vanishes if this process, unit, container or pod has ended
     * ({@link io.bpf4j.trace.Answer#hasEnded}) and the series had no event for so long, as the times of reading show
     * it. It comes back with its former counts if it has events again: another process gets the number, or a unit is
     * started again. Other series stay until the answer is closed.
     *
     * @throws IllegalArgumentException if it is negative
     */
    AnswerMetric withStaleAfter(Duration staleAfter);

    /** The name, as it was given. */
    String name();

    String help();

    /** The names of labels by the expressions of their keys; without the keys that were not named. */
    Map<String, String> labels();

    /** The values of constant labels by their names. */
    Map<String, String> constants();

    /** The bounds, as they were given; empty if they were not. */
    List<Double> bounds();

    int maxSeries();

    Duration staleAfter();
}
