package io.bpf4j.cli.export;

import io.bpf4j.cli.output.Text;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The health of the agent. <i>Immutable.</i>
 *
 * @param problems the reasons why questions don't count; empty if all count
 * @param remarks the reasons why answers may lack events
 */
public record Health(List<String> problems, List<String> remarks) {
    /** Whether all questions count. */
    boolean isGood() {
        return problems.isEmpty();
    }

    /** This health with more remarks, which come first. */
    public Health with(List<String> more) {
        return new Health(
                problems, Stream.concat(more.stream(), remarks.stream()).toList());
    }

    /** The lines of the health page. */
    String text() {
        // The lines contain names of other users' files and functions, which may have any bytes.
        return Stream.concat(isGood() ? Stream.of("ok") : problems.stream(), remarks.stream())
                .map(Text::printable)
                .collect(Collectors.joining("\n"));
    }
}
