package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The filter of events. <i>Confined.</i>
 *
 * <p>Tested by {@code CliQuestionsTest}.
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
     * Refuses an empty filter. It is a mistake, such as an unset variable of a script, and does not mean all events.
     *
     * @throws UsageException if it is empty
     */
    void check() {
        String text = where;
        if (text != null && text.isBlank()) {
            throw new UsageException("--where: the expression is empty");
        }
    }

    /** The expression; empty if none is given. */
    Optional<String> expression() {
        return Optional.ofNullable(where);
    }
}
