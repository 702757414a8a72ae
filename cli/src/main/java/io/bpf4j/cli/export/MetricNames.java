package io.bpf4j.cli.export;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The names of metrics for Prometheus. A question has several metrics, so the names of two questions can collide
 * although they differ.
 *
 * <p>Tested by {@code MetricNamesTest}.
 */
public final class MetricNames {
    /** The prefix of the agent's own metrics. */
    static final String OWN = "bpf4j_";

    /**
     * The units that a question's metrics may get as suffix: whether values are times or bytes is known only when the
     * question runs. The client adds the other suffixes.
     */
    private static final List<String> UNITS = List.of("_total", "_seconds", "_bytes");

    /** The endings of the metrics of a question: see {@code io.bpf4j.metrics.prometheus.AnswerCollector}. */
    private static final List<String> ENDINGS = List.of("", "_seconds", "_bytes", "_gaps", "_folded_series", "_exact");

    private MetricNames() {}

    /** Finds questions whose metrics would have the same name, or a name of the agent's own metrics. */
    public static void check(List<ConfigLine> lines, Consumer<Mistake> mistakes) {
        Map<String, ConfigLine> owners = new HashMap<>();
        for (ConfigLine line : lines) {
            String base = base(line.name());
            if ((base + "_").startsWith(OWN)) {
                mistakes.accept(new Mistake(
                        line.number(),
                        "the name " + line.name() + " is reserved: names that begin with " + OWN
                                + " belong to the agent's own metrics"));
            }
            for (String ending : ENDINGS) {
                if (ProcessMetrics.NAMES.contains(base + ending)) {
                    mistakes.accept(new Mistake(
                            line.number(),
                            "the metric " + line.name() + " would be exported as " + base + ending
                                    + ", the name of a metric of the agent's process: give it another name"));
                    break;
                }
                ConfigLine owner = owners.putIfAbsent(base + ending, line);
                if (owner != null) {
                    mistakes.accept(new Mistake(
                            line.number(),
                            "the metric " + line.name() + " would be exported as " + base + ending
                                    + ", like the metric " + owner.name() + " of line " + owner.number()
                                    + ": give it another name"));
                    break;
                }
            }
        }
    }

    private static String base(String name) {
        String base = name.replace('.', '_');
        for (String unit : UNITS) {
            base = base.endsWith(unit) ? base.substring(0, base.length() - unit.length()) : base;
        }
        return base;
    }
}
