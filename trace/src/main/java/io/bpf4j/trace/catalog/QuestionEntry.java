package io.bpf4j.trace.catalog;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A question while its lines are read.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
final class QuestionEntry implements CatalogParser.Entry {
    /** A word of a command: bare, or in single quotes, which may contain blanks. */
    private static final Pattern WORD = Pattern.compile("'([^']*)'|[^\\s']+");

    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final int line;
    private final String group;
    private final String name;
    private final List<String> flags = new ArrayList<>();
    private final List<String> command = new ArrayList<>();
    private String description = "";

    QuestionEntry(int line, String group, String name) {
        this.line = line;
        this.group = group;
        this.name = name;
    }

    @Override
    public void line(Lines lines) {
        String[] words = BLANKS.split(lines.text(), 2);
        if (words.length == 2 && words[0].equals("run")) {
            if (!command.isEmpty()) {
                throw lines.error("a question runs one command");
            }
            command.addAll(words(lines, words[1]));
        } else if (words.length == 2 && words[0].equals("needs")) {
            flags.addAll(words(lines, words[1]));
        } else {
            description = CatalogParser.withSentence(lines, description, "'run COMMAND' or 'needs OPTION'");
        }
    }

    /** Checks, after the last line, that the entry is complete. */
    void check(Lines lines) {
        if (command.isEmpty()) {
            throw lines.error(line, "expected an indented line 'run COMMAND' below the question");
        }
    }

    ReadyQuestion question() {
        return new ReadyQuestion(group, name, description, flags, command);
    }

    int lineNumber() {
        return line;
    }

    private static List<String> words(Lines lines, String text) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(text);
        int end = 0;
        while (word.find()) {
            // A shell would join 'a'b to one word; this parser refuses it.
            if (!text.substring(end, word.start()).isBlank() || (end > 0 && word.start() == end)) {
                throw lines.error(
                        "expected words separated by blanks; put a word that contains blanks in single quotes");
            }
            words.add(word.group(1) == null ? word.group() : word.group(1));
            end = word.end();
        }
        if (!text.substring(end).isBlank()) {
            throw lines.error("expected a closing single quote");
        }
        return words;
    }
}
