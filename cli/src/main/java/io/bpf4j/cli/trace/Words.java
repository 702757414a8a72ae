package io.bpf4j.cli.trace;

import java.util.ArrayList;
import java.util.List;

/**
 * Splits a command line into words by the quoting rules of the shell.
 *
 * <p>Variables, globs, pipes and redirections are not supported: the process to trace must be the command itself, not a
 * shell around it. To trace a shell, use {@code -c "sh -c '…'"}.
 */
public final class Words {
    /** What a backslash takes its meaning from inside of {@code "…"}; before others it is a character, as in {@code "\d"}. */
    private static final String ESCAPED_IN_QUOTES = "\"\\$`";

    private Words() {}

    /**
     * The words. Blanks separate them, except in {@code '…'} and {@code "…"}. After a backslash a character stands for
     * itself, and a line goes on in the next one; in {@code "…"} only before the characters that mean something there.
     *
     * @throws IllegalArgumentException if a quote isn't closed or there is no word
     */
    public static List<String> split(String line) {
        List<String> words = new ArrayList<>();
        StringBuilder word = new StringBuilder();
        boolean inWord = false;
        char quote = 0;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (quote != 0 && c == quote) {
                quote = 0;
            } else if (c == '\\' && quote != '\'' && i + 1 < line.length()) {
                char escaped = line.charAt(++i);
                if (escaped == '\n') {
                    continue;
                }
                if (quote != 0 && ESCAPED_IN_QUOTES.indexOf(escaped) < 0) {
                    word.append(c);
                }
                word.append(escaped);
                inWord = true;
            } else if (quote == 0 && (c == '\'' || c == '"')) {
                quote = c;
                inWord = true;
            } else if (quote == 0 && Character.isWhitespace(c)) {
                if (inWord) {
                    words.add(word.toString());
                    word.setLength(0);
                    inWord = false;
                }
            } else {
                word.append(c);
                inWord = true;
            }
        }
        if (quote != 0) {
            throw new IllegalArgumentException("a " + quote + " is never closed in: " + line);
        }
        if (inWord) {
            words.add(word.toString());
        }
        if (words.isEmpty()) {
            throw new IllegalArgumentException("the command is empty");
        }
        return words;
    }
}
