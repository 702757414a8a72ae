package io.bpf4j.cli.export;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The names that metrics have for Prometheus. A question has several metrics, so two questions may need other names than
 * two that differ.
 *
 * <p>Tested by {@code MetricNamesTest}.
 */
public final class MetricNames {
    /** What the agent says of itself. */
    static final String OWN = "bpf4j_";

    /** Whether values are times or bytes is known when the question is asked. The client adds the others itself. */
    private static final List<String> UNITS = List.of("_total", "_seconds", "_bytes");

    /** The endings of the metrics of a question: see {@code io.bpf4j.metrics.prometheus.AnswerCollector}. */
    private static final List<String> ENDINGS = List.of("", "_seconds", "_bytes", "_gaps", "_folded_series", "_exact");

    private MetricNames() {}

    /** Looks for questions whose metrics would have the same name, or one of the agent's own. */
    public static void check(List<ConfigLine> lines, Consumer<Mistake> mistakes) {
        Map<String, ConfigLine> owners = new HashMap<>();
        for (ConfigLine line : lines) {
            String base = base(line.name());
            if ((base + "_").startsWith(OWN)) {
                mistakes.accept(new Mistake(
                        line.number(),
                        "the name " + line.name() + " is not free: names that begin with " + OWN
                                + " are those of the agent's own metrics"));
            }
            for (String ending : ENDINGS) {
                if (ProcessMetrics.NAMES.contains(base + ending)) {
                    mistakes.accept(new Mistake(
                            line.number(),
                            "the metric " + line.name() + " would have the name " + base + ending
                                    + ", which is that of a metric of the agent's process: give it another name"));
                    break;
                }
                ConfigLine owner = owners.putIfAbsent(base + ending, line);
                if (owner != null) {
                    mistakes.accept(new Mistake(
                            line.number(),
                            "the metric " + line.name() + " would have a name of the metric " + owner.name()
                                    + " of line " + owner.number() + ", " + base + ending + ": give it another name"));
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
