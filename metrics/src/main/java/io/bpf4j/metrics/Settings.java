package io.bpf4j.metrics;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/** The values of an {@link AnswerMetric}. */
record Settings(
        String name,
        String help,
        Map<String, String> labels,
        Map<String, String> constants,
        List<Double> bounds,
        int maxSeries,
        Duration staleAfter)
        implements AnswerMetric {
    /** The names that both libraries accept, with the dots of OpenTelemetry's names. */
    private static final Pattern NAME = Pattern.compile("[a-zA-Z_][a-zA-Z0-9_]*([.][a-zA-Z0-9_]+)*");

    /** Labels that have a meaning for Prometheus, or are reserved. */
    private static final Pattern RESERVED = Pattern.compile("__.*|le|quantile");

    static String metricName(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name
                    + "' is not a valid metric name: a name has letters, digits, _ and ., and begins with a letter");
        }
        return name;
    }

    @Override
    public AnswerMetric withHelp(String text) {
        return new Settings(name, text, labels, constants, bounds, maxSeries, staleAfter);
    }

    @Override
    public AnswerMetric withLabel(String key, String label) {
        Map<String, String> others = new LinkedHashMap<>(labels);
        others.remove(key);
        Map<String, String> more = new LinkedHashMap<>(labels);
        more.put(key, checked(label, others, constants));
        return new Settings(name, help, Collections.unmodifiableMap(more), constants, bounds, maxSeries, staleAfter);
    }

    @Override
    public AnswerMetric withConstant(String label, String value) {
        Map<String, String> others = new LinkedHashMap<>(constants);
        others.remove(label);
        Map<String, String> more = new LinkedHashMap<>(constants);
        more.put(checked(label, labels, others), value);
        return new Settings(name, help, labels, Collections.unmodifiableMap(more), bounds, maxSeries, staleAfter);
    }

    private static String checked(String label, Map<String, String> labels, Map<String, String> constants) {
        String asWritten = label.replace('.', '_');
        if (!NAME.matcher(label).matches() || RESERVED.matcher(asWritten).matches()) {
            throw new IllegalArgumentException(
                    "'" + label + "' is not a valid label name: a name has letters, digits, _ and .,"
                            + " begins with a letter, and is neither le nor quantile");
        }
        if (labels.values().stream().anyMatch(other -> other.replace('.', '_').equals(asWritten))
                || constants.keySet().stream()
                        .anyMatch(other -> other.replace('.', '_').equals(asWritten))) {
            throw new IllegalArgumentException("two labels have the name '" + label + "'");
        }
        return label;
    }

    @Override
    public AnswerMetric withBounds(double... bounds) {
        boolean valid = bounds.length > 0;
        for (int i = 0; i < bounds.length; i++) {
            valid &= Double.isFinite(bounds[i]) && (i == 0 || bounds[i - 1] < bounds[i]);
        }
        List<Double> all = DoubleStream.of(bounds).boxed().toList();
        if (!valid) {
            throw new IllegalArgumentException(
                    "bounds of buckets are finite numbers, each larger than the one before: " + all);
        }
        return new Settings(name, help, labels, constants, all, maxSeries, staleAfter);
    }

    @Override
    public AnswerMetric withMaxSeries(int most) {
        if (most < 1) {
            throw new IllegalArgumentException("a metric has at least one series, not " + most);
        }
        return new Settings(name, help, labels, constants, bounds, most, staleAfter);
    }

    @Override
    public AnswerMetric withStaleAfter(Duration after) {
        if (after.isNegative()) {
            throw new IllegalArgumentException("a series can't vanish before its last event: " + after);
        }
        return new Settings(name, help, labels, constants, bounds, maxSeries, after);
    }
}
