package io.bpf4j.cli.export;

import java.util.List;

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

    /** Lines for a reader. */
    String text() {
        return String.join("\n", isGood() ? List.of("ok") : problems)
                + (remarks.isEmpty() ? "" : "\n" + String.join("\n", remarks));
    }
}
