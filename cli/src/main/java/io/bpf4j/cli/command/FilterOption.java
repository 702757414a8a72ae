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
            paramLabel = "EXPR",
            description =
                    "Only events for which this is not 0: 'arg0 > 50ms && comm ~ \"java*\"'. Expressions are C's, with "
                            + "arg0 to arg11 and the names of 'bpf4j catalog', pid tid comm cpu uid cgroup probe, str(p), str(p, n).")
    private @Nullable String where;

    /**
     * Checks that a filter that is given is not empty. That is a mistake, such as a variable of a script that isn't set; it
     * is not the filter that takes all.
     *
     * @throws UsageException if it is empty
     */
    void check() {
        String text = where;
        if (text != null && text.isBlank()) {
            throw new UsageException("--where: the expression is empty");
        }
    }

    /** The expression, if one is given. */
    Optional<String> expression() {
        return Optional.ofNullable(where);
    }
}
