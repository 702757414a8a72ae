package io.bpf4j.cli.question;

import io.bpf4j.cli.output.JsonLine;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.util.List;
import java.util.Optional;

/**
 * Which buckets the histograms of an answer may have. A row contains only the buckets from the first event's to the
 * last one's, so a reader that adds up histograms needs to know the others. <i>Immutable.</i>
 *
 * <p>Tested by {@code MergeCommandTest}.
 *
 * @param unsigned whether values are unsigned
 * @param linear the buckets of one width; empty for powers of two
 */
public record HistogramScale(boolean unsigned, Optional<Linear> linear) {
    /**
     * Buckets of one width, with one more below and one above.
     *
     * @param from the smallest value of the first one
     * @param to the value after the last one
     */
    public record Linear(long from, long to, long step) {}

    /** The scale of a distribution that has all buckets. */
    public static HistogramScale of(Distribution all) {
        if (!all.linear()) {
            return new HistogramScale(all.unsigned(), Optional.empty());
        }
        List<Bucket> buckets = all.buckets();
        Bucket last = buckets.get(buckets.size() - 2);
        long step = last.to() - last.from() + 1;
        Bucket first = buckets.getFirst();
        // Nothing is below 0 if values are unsigned. Then the first bucket has the width of the others. So has the one
        // below if the others begin at their width: the same buckets, unless those from 0 on are one too many.
        boolean nothingBelow = all.unsigned()
                && first.to() - first.from() + 1 == step
                && buckets.size() - 1 <= Distribution.MAX_LINEAR_BUCKETS;
        long from = (nothingBelow ? first : buckets.get(1)).from();
        return new HistogramScale(all.unsigned(), Optional.of(new Linear(from, last.to() + 1, step)));
    }

    /**
     * A distribution without events that has all buckets.
     *
     * @throws IllegalArgumentException if there are no such buckets, or too many
     */
    public Distribution withoutEvents() {
        return linear.map(of -> Distribution.withoutEvents(unsigned, of.from, of.to, of.step))
                .orElseGet(() -> Distribution.withoutEvents(unsigned));
    }

    /** Adds the scale to a row. */
    void json(JsonLine line) {
        line.field("unsigned", unsigned);
        linear.ifPresent(of -> line.key("linear")
                .beginObject()
                .field("from", of.from)
                .field("to", of.to)
                .field("step", of.step)
                .endObject());
    }

    /** The scale as text, for a message. */
    @Override
    public String toString() {
        return (unsigned ? "unsigned" : "signed")
                + linear.map(of -> ", linear " + of.from + ":" + of.to + ":" + of.step)
                        .orElse(", by powers of two");
    }
}
