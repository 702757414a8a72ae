package io.bpf4j.cli.export;

import io.bpf4j.cli.output.Text;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How the agent is. <i>Immutable.</i>
 *
 * @param problems why not all questions count; empty if they do
 * @param remarks why answers may lack events
 */
public record Health(List<String> problems, List<String> remarks) {
    /** Whether all questions count. */
    boolean isGood() {
        return problems.isEmpty();
    }

    /** The same with more remarks, which come first. */
    public Health with(List<String> more) {
        return new Health(
                problems, Stream.concat(more.stream(), remarks.stream()).toList());
    }

    /** Lines for a reader. */
    String text() {
        // They have names of other users' files and functions, which may have any bytes.
        return Stream.concat(isGood() ? Stream.of("ok") : problems.stream(), remarks.stream())
                .map(Text::printable)
                .collect(Collectors.joining("\n"));
    }
}
