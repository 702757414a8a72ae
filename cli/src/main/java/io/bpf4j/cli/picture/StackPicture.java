package io.bpf4j.cli.picture;

import io.bpf4j.trace.Answer;
import io.bpf4j.trace.stack.StackCounts;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The stacks of an answer as a flame graph: on a page, above a table for readers who can't see the graph, or as a
 * separate picture. <i>Confined.</i>
 *
 * <p>Tested by {@code CliStackTest} and {@code MergeCommandTest}.
 */
public final class StackPicture {
    /** The maximum number of frames of a stack in the table of a page. */
    private static final int MAX_TABLE_FRAMES = 10;

    /** The maximum number of characters of a line below a flame graph. */
    private static final int MAX_LINE_LENGTH = 170;

    private final String title;
    private final StackCounts graph;
    private final Map<String, Long> table = new HashMap<>();

    /** @param graph all stacks */
    public StackPicture(String title, StackCounts graph) {
        this.title = title;
        this.graph = graph;
    }

    /**
     * Adds a stack to the table. Those with the same innermost frames are one row.
     *
     * @param frames innermost first
     */
    public void add(List<String> frames, long count) {
        String innermost = frames.stream().limit(MAX_TABLE_FRAMES).collect(Collectors.joining(" \u2190 "));
        table.merge(innermost.isEmpty() ? "(none)" : innermost, count, Long::sum);
    }

    /** Writes the graph and the table, with the title, the facts and the remarks of a page. */
    public void html(AnswerPage page, Appendable out) throws IOException {
        AnswerPage withTable = page.withRows(table.entrySet().stream()
                .map(row -> new Answer.Row(
                        Map.of("stack", row.getKey()),
                        row.getValue(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty()))
                .toList());
        if (table.isEmpty()) {
            withTable.html(out);
        } else {
            withTable.html(out, figure -> graph.figure(figure, title));
        }
    }

    /** Writes the graph, with the facts and the remarks of a page below it. */
    public void svg(AnswerPage page, Appendable out) throws IOException {
        graph.svg(out, title, page.lines(MAX_LINE_LENGTH));
    }
}
