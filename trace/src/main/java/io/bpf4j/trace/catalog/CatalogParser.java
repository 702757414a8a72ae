package io.bpf4j.trace.catalog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Parses a catalog, line by line:
 *
 * <pre>
 * # A comment has a line of its own.
 * provider postgresql
 *
 * enum lwlock_mode 0=exclusive 1=shared
 *
 * probe lwlock__acquire(lock: text, mode: s32 lwlock_mode)
 *   A lightweight lock has been acquired.
 *
 * probe query__start(query: text)
 *   The processing of a query begins.
 *   pair query__done
 *
 * question postgres slow
 *   The queries that took longer than 100 ms.
 *   run latency postgresql:query__start postgresql:query__done --slower 100ms --show query
 * </pre>
 *
 * <p>A line that starts in the first column starts an entry; an indented line belongs to the entry above it. A sentence
 * must start with a capital letter and end with a full stop, so a misspelled {@code pair} is not taken for a sentence.
 */
final class CatalogParser {
    private static final Pattern WORD = Pattern.compile("[!-~&&[^(),:*?#]]+");
    private static final Pattern HEAD = Pattern.compile("([^\\s(]+)\\s*\\((.*)");
    private static final Pattern ENUM_VALUE = Pattern.compile("(-?[0-9]{1,18})=([A-Za-z0-9_.+/-]+)");
    private static final Pattern SENTENCE = Pattern.compile("\\p{Lu}.*\\.");
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private final String source;
    private final Map<String, Map<Long, String>> enums = new HashMap<>();

    /** The probes by provider, name and number of arguments. */
    private final Map<List<Object>, ProbeEntry> probes = new LinkedHashMap<>();

    private final Map<List<String>, QuestionEntry> questions = new LinkedHashMap<>();

    CatalogParser(String source) {
        this.source = source;
    }

    Catalog parse(String text) {
        return new Catalog(List.of(CatalogPart.of(entries(text))));
    }

    CatalogPart.Entries entries(String text) {
        Lines lines = new Lines(source, text);
        if (text.length() > CatalogText.MAX_BYTES) {
            throw lines.error("larger than " + CatalogText.MAX_BYTES + " characters: split it");
        }
        String provider = "";
        Entry entry = null;
        while (lines.next()) {
            if (lines.isIndented()) {
                if (entry == null) {
                    throw lines.error("expected 'provider', 'enum', 'probe' or 'question' in the first column");
                }
                entry.line(lines);
                continue;
            }
            String[] words = BLANKS.split(lines.text(), 2);
            String rest = words.length == 1 ? "" : words[1];
            entry = null;
            switch (words[0]) {
                case "provider" -> provider = word(lines, rest, "a provider's name");
                case "enum" -> declareEnum(lines, rest);
                case "probe" -> entry = probe(lines, provider, rest);
                case "question" -> entry = question(lines, rest);
                default ->
                    throw lines.error("expected 'provider', 'enum', 'probe' or 'question', found '" + words[0] + "'");
            }
        }
        questions.values().forEach(question -> question.check(lines));
        return CatalogPart.Entries.of(
                ProbePairs.joined(lines, List.copyOf(probes.values())),
                questions.values().stream().map(QuestionEntry::question).toList());
    }

    private void declareEnum(Lines lines, String rest) {
        String[] words = BLANKS.split(rest, -1);
        String name = word(lines, words[0], "an enum's name");
        Map<Long, String> names = new LinkedHashMap<>();
        for (String word : Stream.of(words).skip(1).toList()) {
            Matcher value = ENUM_VALUE.matcher(word);
            if (!value.matches()) {
                throw lines.error("expected a value as '1=shared', found '" + word + "'");
            }
            if (names.putIfAbsent(Long.valueOf(value.group(1)), value.group(2)) != null) {
                throw lines.error("the value " + value.group(1) + " has two names");
            }
        }
        if (names.isEmpty()) {
            throw lines.error("expected values after the enum's name, as '0=exclusive 1=shared'");
        }
        if (enums.putIfAbsent(name, Map.copyOf(names)) != null) {
            throw lines.error("the enum '" + name + "' is declared twice");
        }
    }

    private ProbeEntry probe(Lines lines, String provider, String rest) {
        if (provider.isEmpty()) {
            throw lines.error("expected a line 'provider NAME' above the first probe");
        }
        Matcher head = HEAD.matcher(rest);
        if (!head.matches()) {
            throw lines.error("expected a probe as 'NAME(ARGUMENT: TYPE, …)', found '" + rest + "'");
        }
        int line = lines.number();
        String name = word(lines, head.group(1), "a probe's name");
        ProbeEntry probe = new ProbeEntry(line, provider, name, arguments(lines, head.group(2)));
        List<Object> key = List.of(provider, name, probe.arguments().size());
        ProbeEntry other = probes.putIfAbsent(key, probe);
        if (other != null) {
            throw lines.error(
                    line,
                    provider + ":" + name + " with "
                            + (probe.arguments().size() == 1
                                    ? "1 argument"
                                    : probe.arguments().size() + " arguments") + " is already defined in line "
                            + other.lineNumber());
        }
        return probe;
    }

    /**
     * The arguments after the opening parenthesis. The list may continue on the next line after the parenthesis and
     * after each comma.
     */
    private List<ProbeArgument> arguments(Lines lines, String first) {
        ArgumentParser parser = new ArgumentParser(lines, enums);
        List<ProbeArgument> arguments = new ArrayList<>();
        String rest = first.strip();
        while (rest.isEmpty() || rest.endsWith(",")) {
            if (!rest.isEmpty()) {
                add(parser, arguments, rest.substring(0, rest.length() - 1));
            }
            if (!lines.next()) {
                throw lines.error("the list of arguments is not closed: expected ')'");
            }
            rest = lines.text();
        }
        if (!rest.endsWith(")")) {
            throw lines.error("expected ')' at the end of the line, or ',' if the next line continues the list");
        }
        String last = rest.substring(0, rest.length() - 1);
        if (!last.isBlank() || !arguments.isEmpty()) {
            add(parser, arguments, last);
        }
        return parser.complete(arguments);
    }

    private static void add(ArgumentParser parser, List<ProbeArgument> arguments, String list) {
        for (String argument : list.split(",", -1)) {
            arguments.add(parser.parse(arguments.size(), argument));
        }
    }

    private QuestionEntry question(Lines lines, String rest) {
        String[] words = BLANKS.split(rest, -1);
        if (words.length != 2) {
            throw lines.error("expected 'question GROUP NAME', found 'question " + rest + "'");
        }
        QuestionEntry question = new QuestionEntry(
                lines.number(),
                word(lines, words[0], "the group of a question"),
                word(lines, words[1], "a question's name"));
        QuestionEntry other = questions.putIfAbsent(List.of(words[0], words[1]), question);
        if (other != null) {
            throw lines.error("line " + other.lineNumber() + " has the same question");
        }
        return question;
    }

    /** Checks a name: visible ASCII characters, except those that patterns and lists use. */
    static String word(Lines lines, String word, String expected) {
        if (!WORD.matcher(word).matches()) {
            throw lines.error("expected " + expected + " (no blanks, and none of ( ) , : * ? #), found '" + word + "'");
        }
        return word;
    }

    /** An entry that indented lines may complete. */
    interface Entry {
        void line(Lines lines);
    }

    /** Appends the sentences of a line to an entry's description. */
    static String withSentence(Lines lines, String description, String expected) {
        if (!SENTENCE.matcher(lines.text()).matches()) {
            throw lines.error("expected " + expected
                    + ", or a sentence, which starts with a capital letter and ends with a full stop; found '"
                    + lines.text() + "'");
        }
        return description.isEmpty() ? lines.text() : description + " " + lines.text();
    }
}
