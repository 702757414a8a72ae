package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.UsageException;
import io.bpf4j.cli.trace.StringArg;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * What {@code trace} is asked for. <i>Confined.</i>
 *
 * <p>Tested by {@code CommandTreeTest} and {@code CliUsageTest}.
 */
final class TraceOptions {
    @Mixin
    private final TargetOptions target = new TargetOptions();

    @Option(
            names = "--str",
            paramLabel = "N[:M]",
            description = "Show argument N (from 0) as a string: zero-terminated, or of the length in argument M.")
    private List<String> strings = new ArrayList<>();

    @Option(names = "--count", paramLabel = "N", description = "End after that many events.")
    private @Nullable Long count;

    private List<StringArg> stringArgs = List.of();

    /**
     * Looks at the options together, before anything is done.
     *
     * @throws UsageException if they make no sense
     */
    void check() {
        target.check();
        Long most = count;
        if (most != null && most <= 0) {
            throw new UsageException("--count takes a number of events, 1 or more");
        }
        stringArgs = stringArgs();
    }

    private List<StringArg> stringArgs() {
        List<StringArg> wanted = new ArrayList<>();
        for (String text : strings) {
            try {
                StringArg string = StringArg.parse(text);
                if (wanted.stream().anyMatch(other -> other.pointer() == string.pointer())) {
                    throw new UsageException("--str: argument " + string.pointer() + " is given twice");
                }
                wanted.add(string);
            } catch (IllegalArgumentException e) {
                throw new UsageException("--str: " + e.getMessage());
            }
        }
        return wanted;
    }

    TargetOptions target() {
        return target;
    }

    /** Arguments to show as strings. */
    List<StringArg> strings() {
        return stringArgs;
    }

    /** How many events to print at most. */
    OptionalLong count() {
        Long most = count;
        return most == null ? OptionalLong.empty() : OptionalLong.of(most);
    }
}
