package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.question.UserCatalog;
import io.bpf4j.trace.catalog.Catalog;
import io.bpf4j.trace.internal.expression.Expression;
import java.io.IOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The filter of events. <i>Confined.</i>
 *
 * <p>Tested by {@code FilterOptionTest} and {@code CliQuestionsTest}.
 */
final class FilterOption {
    @Option(
            names = "--where",
            parameterConsumer = ExpressionValue.class,
            paramLabel = "EXPR",
            description =
                    "Only events for which this is not 0: 'arg0 > 50ms && comm ~ \"java*\"'. Expressions are C's, with "
                            + "arg0 to arg11 and the names of 'bpf4j catalog', pid tid comm cpu uid cgroup probe, "
                            + "str(p), str(p, n).")
    private @Nullable String where;

    /**
     * Refuses what is wrong with any probes, before they are looked for. An empty filter is a mistake, such as an unset
     * variable of a script, and does not mean all events.
     *
     * @throws UsageException if it is empty
     * @throws io.bpf4j.trace.expression.ExpressionException if it is not an expression, or compares what the kernel
     *     does not know
     */
    void check() throws IOException {
        String text = where;
        if (text == null) {
            return;
        }
        if (text.isBlank()) {
            throw new UsageException("--where: the expression is empty");
        }
        Catalog catalog = UserCatalog.read();
        Expression.parse(text)
                .requireFilter(name -> catalog.probes().stream()
                        .anyMatch(probe -> probe.argument(name).isPresent()));
    }

    /** The expression; empty if none is given. */
    Optional<String> expression() {
        return Optional.ofNullable(where);
    }
}
