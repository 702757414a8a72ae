package io.bpf4j.metrics.internal;

import io.bpf4j.trace.Gap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * An answer at one time. <i>Immutable.</i>
 *
 * @param series the exported series
 * @param folded how many combinations of label values have ever been added to {@code other}, because there were too many
 * @param gaps as in {@link io.bpf4j.trace.Answer#gaps}
 * @param exact whether the answer has all events so far
 */
public record Reading(List<Series> series, long folded, Map<Gap, Long> gaps, boolean exact) {
    /**
     * One series.
     *
     * @param values of the labels, in order; empty for the series of the combinations for which there was no room
     * @param count the number of events
     * @param histogram the histogram of their values; empty if the question only counts
     */
    public record Series(Optional<List<Object>> values, long count, Optional<Histogram> histogram) {}
}
