package io.bpf4j.cli.merge;

import io.bpf4j.cli.question.AnswerValues;
import io.bpf4j.trace.Distribution;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The events of one key, or of one stack with its key. <i>Immutable.</i>
 *
 * @param distribution of the values, if the row is of a histogram
 */
record MergedRow(Id id, long count, @Nullable Distribution distribution) {
    /**
     * The identity of rows that are added up. Ids are compared by order and not by hash, because names can be chosen so
     * that many have the same hash. The order is defined for rows of the same form.
     *
     * @param key the values by the names of the keys, as {@link io.bpf4j.trace.Answer.Row#key} has them
     * @param frames of a stack; empty in other rows
     * @param cut whether the stack lacks outer frames
     */
    record Id(Map<String, Object> key, List<String> frames, boolean cut) implements Comparable<Id> {
        @Override
        public int compareTo(Id other) {
            int order = AnswerValues.compare(key.values(), other.key.values(), Id::compareValues);
            order = order != 0 ? order : AnswerValues.compare(frames, other.frames, Comparator.naturalOrder());
            return order != 0 ? order : Boolean.compare(cut, other.cut);
        }

        /** Values of different types are different, also those that look the same. */
        @SuppressWarnings("unchecked") // all types of values have an order
        private static int compareValues(Object left, Object right) {
            int order = left.getClass().getName().compareTo(right.getClass().getName());
            return order != 0 ? order : ((Comparable<Object>) left).compareTo(right);
        }
    }

    /**
     * The sum of two rows with the same id.
     *
     * @param all a distribution with all buckets
     * @throws Refusal if the number of events exceeds 63 bits
     */
    MergedRow plus(MergedRow other, @Nullable Distribution all) {
        try {
            return new MergedRow(
                    id,
                    Math.addExact(count, other.count),
                    distribution == null || other.distribution == null || all == null
                            ? null
                            : all.plus(List.of(distribution, other.distribution)));
        } catch (ArithmeticException e) {
            throw new Refusal("makes the number of events exceed 2^63 - 1");
        }
    }
}
