package io.bpf4j.cli.export;

import java.util.List;

/**
 * A question in the file of the agent. Two lines with the same words are equal, wherever they are in the file, so a
 * line that was moved is the same question. <i>Immutable.</i>
 *
 * @param number of its first line in the file, from 1
 * @param words the name of the metric, and the command line of the question; at least one
 */
public record ConfigLine(int number, List<String> words) {
    /** The name of the metric. */
    public String name() {
        return words.getFirst();
    }

    /** The command line of the question, with the options of the metric. */
    public List<String> question() {
        return words.subList(1, words.size());
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ConfigLine line && words.equals(line.words);
    }

    @Override
    public int hashCode() {
        return words.hashCode();
    }
}
