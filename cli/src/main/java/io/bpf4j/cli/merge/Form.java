package io.bpf4j.cli.merge;

import io.bpf4j.cli.question.HistogramScale;
import java.util.List;
import java.util.Optional;

/**
 * What a row shows about its question. Rows of one question have the same form, so answers of different forms can't be
 * added up. <i>Immutable.</i>
 *
 * @param keys the names of the keys, in their order
 * @param unit of a histogram; empty if it is not known
 * @param scale of a histogram
 * @param stacks whether the rows are stacks
 */
record Form(List<String> keys, String unit, Optional<HistogramScale> scale, boolean stacks) {
    /** How this differs from the form of the rows before, in words. */
    String differenceTo(Form other) {
        if (!kind().equals(other.kind())) {
            return "a row of " + kind() + ", not of " + other.kind();
        }
        if (!keys.equals(other.keys)) {
            return "its keys are " + names(keys) + ", not " + names(other.keys);
        }
        if (!unit.equals(other.unit)) {
            return "its unit is " + unit(unit) + ", not " + unit(other.unit);
        }
        return "its buckets are " + text(scale) + "; not " + text(other.scale);
    }

    /** What the rows are, in words. */
    String kind() {
        return stacks ? "stacks" : scale.isPresent() ? "histograms" : "counts";
    }

    private static String names(List<String> keys) {
        return keys.isEmpty() ? "none" : Refusal.quoted(String.join(", ", keys));
    }

    private static String unit(String unit) {
        return unit.isEmpty() ? "unknown" : Refusal.quoted(unit);
    }

    private static String text(Optional<HistogramScale> scale) {
        return scale.map(HistogramScale::toString).orElse("none");
    }
}
