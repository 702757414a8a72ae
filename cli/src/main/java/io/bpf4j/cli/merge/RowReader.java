package io.bpf4j.cli.merge;

import io.bpf4j.cli.question.HistogramScale;
import io.bpf4j.cli.question.HistogramScale.Linear;
import io.bpf4j.trace.Distribution;
import io.bpf4j.trace.Distribution.Bucket;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the records of rows, and checks that their numbers agree with each other. <i>Confined.</i>
 *
 * <p>Tested by {@code MergeCommandTest}.
 */
final class RowReader {
    /** The scale of the last histogram, with all its buckets: all histograms of a question have the same. */
    private @Nullable HistogramScale scale;

    private @Nullable Distribution all;

    /** A row, and its form. */
    record Read(Form form, MergedRow row) {}

    /**
     * Reads a row.
     *
     * @throws Refusal if it is not a row of a count, histogram or stack
     */
    Read read(Fields fields) {
        Map<String, Object> key = key(fields.object("key"));
        List<String> keys = List.copyOf(key.keySet());
        String unit = "";
        Optional<HistogramScale> of = Optional.empty();
        Distribution distribution = null;
        List<String> frames = List.of();
        boolean cut = false;
        boolean stack = fields.has("frames");
        if (stack) {
            frames = texts(fields.list("frames"));
            cut = fields.has("cut") && fields.flag("cut");
        } else if (fields.has("buckets")) {
            unit = fields.optionalText("unit").orElse("");
            of = Optional.of(scale(fields));
        }
        long count = fields.count("count");
        if (of.isPresent()) {
            distribution = distribution(fields, of.get(), count);
        }
        fields.end();
        if (count == 0) {
            throw new Refusal("is a row without events");
        }
        return new Read(
                new Form(keys, unit, of, stack),
                new MergedRow(new MergedRow.Id(key, frames, cut), count, distribution));
    }

    private static Map<String, Object> key(Map<String, @Nullable Object> values) {
        Map<String, Object> key = new LinkedHashMap<>();
        values.forEach((name, value) -> {
            if (value == null || value instanceof Map || value instanceof List) {
                throw new Refusal(
                        "has the key " + Refusal.quoted(name) + ", whose value is not a string, a number or a boolean");
            }
            key.put(name, value);
        });
        return key;
    }

    private static List<String> texts(List<?> values) {
        List<String> texts = new ArrayList<>();
        for (Object value : values) {
            if (!(value instanceof String text)) {
                throw new Refusal("has a frame that is not a string");
            }
            texts.add(text);
        }
        return texts;
    }

    private static HistogramScale scale(Fields fields) {
        boolean unsigned = fields.flag("unsigned");
        if (!fields.has("linear")) {
            return new HistogramScale(unsigned, Optional.empty());
        }
        Fields linear = new Fields(fields.object("linear"));
        Linear of = new Linear(
                linear.number("from", unsigned), linear.number("to", unsigned), linear.number("step", unsigned));
        linear.end();
        return new HistogramScale(unsigned, Optional.of(of));
    }

    /** All buckets of a scale. */
    Distribution all(HistogramScale of) {
        Distribution known = all;
        if (known == null || !of.equals(scale)) {
            try {
                known = of.withoutEvents();
            } catch (IllegalArgumentException e) {
                throw new Refusal("has no possible 'linear' buckets: " + e.getMessage());
            }
            scale = of;
            all = known;
        }
        return known;
    }

    private Distribution distribution(Fields fields, HistogramScale of, long count) {
        List<Bucket> buckets = new ArrayList<>();
        for (Object each : fields.list("buckets")) {
            Fields bucket = Fields.of(each, "a bucket");
            buckets.add(new Bucket(
                    bucket.number("from", of.unsigned()), bucket.number("to", of.unsigned()), bucket.count("count")));
            bucket.end();
        }
        Distribution read = new Distribution(
                of.unsigned(),
                of.linear().isPresent(),
                count,
                fields.number("sum", of.unsigned()),
                fields.number("min", of.unsigned()),
                fields.number("max", of.unsigned()),
                buckets);
        try {
            // Also adds the buckets that a writer may have left out.
            Distribution whole = all(of).plus(List.of(read));
            long events = 0;
            for (Bucket bucket : whole.buckets()) {
                events = Math.addExact(events, bucket.count());
            }
            if (events != count) {
                throw new Refusal("counts " + count + " events, but has " + events + " in its buckets");
            }
            return whole;
        } catch (IllegalArgumentException e) {
            throw new Refusal("has buckets that do not match its scale (" + of + "): " + e.getMessage());
        } catch (ArithmeticException e) {
            throw new Refusal("has more than 2^63 - 1 events in its buckets");
        }
    }
}
