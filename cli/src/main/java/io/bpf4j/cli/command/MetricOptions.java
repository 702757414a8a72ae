package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.metrics.AnswerMetric;
import io.bpf4j.metrics.internal.SeriesReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The options of a metric in a line of the agent's file, mixed with the question's own options: {@link AnswerMetric}
 * explains each. <i>Confined.</i>
 *
 * <p>Tested by {@code ExportCommandTest}.
 */
@Command(name = "export")
final class MetricOptions {
    @Option(names = "--help", scope = ScopeType.INHERIT, paramLabel = "TEXT")
    private String help = "";

    @Option(names = "--label", scope = ScopeType.INHERIT, paramLabel = "LABEL=EXPR")
    private List<String> labels = new ArrayList<>();

    @Option(names = "--constant", scope = ScopeType.INHERIT, paramLabel = "LABEL=VALUE")
    private List<String> constants = new ArrayList<>();

    @Option(names = "--bounds", scope = ScopeType.INHERIT, split = ",", paramLabel = "N")
    private List<Double> bounds = new ArrayList<>();

    @Option(names = "--max-series", scope = ScopeType.INHERIT, paramLabel = "N")
    private @Nullable Integer maxSeries;

    @Option(names = "--stale-after", scope = ScopeType.INHERIT, paramLabel = "T")
    private @Nullable Double staleAfter;

    /**
     * The metric with these options.
     *
     * @param named a metric with a name only
     * @param keys the keys of the question
     * @param question the question as it was typed, which is the help text of a metric without {@code --help}
     * @throws UsageException if an option is wrong, or a label is for no key
     */
    AnswerMetric of(AnswerMetric named, List<String> keys, String question) {
        try {
            AnswerMetric metric = named.withHelp(help.isEmpty() ? "Events of: " + question : help);
            for (String label : labels) {
                metric = metric.withLabel(value("--label LABEL=EXPR", label), name(label));
            }
            for (String constant : constants) {
                metric = metric.withConstant(name(constant), value("--constant LABEL=VALUE", constant));
            }
            if (!bounds.isEmpty()) {
                metric = metric.withBounds(
                        bounds.stream().mapToDouble(Double::doubleValue).toArray());
            }
            if (maxSeries != null) {
                metric = metric.withMaxSeries(maxSeries);
            }
            if (staleAfter != null) {
                metric = metric.withStaleAfter(Duration.ofNanos(Math.round(staleAfter * 1e9)));
            }
            List<String> _ = SeriesReader.labels(metric, keys);
            return metric;
        } catch (IllegalArgumentException e) {
            throw new UsageException(e);
        }
    }

    private static String name(String label) {
        return label.substring(0, Math.max(0, label.indexOf('=')));
    }

    private static String value(String form, String label) {
        if (label.indexOf('=') < 0) {
            throw new UsageException(form + ": there is no = in '" + label + "'");
        }
        return label.substring(label.indexOf('=') + 1);
    }
}
