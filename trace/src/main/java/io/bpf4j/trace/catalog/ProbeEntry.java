package io.bpf4j.trace.catalog;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A probe while its lines are read.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
final class ProbeEntry implements CatalogParser.Entry {
    private static final Pattern PAIR = Pattern.compile("pair\\s+(\\S+)(?:\\s+by\\s+(.+))?");
    private static final Pattern COMMA = Pattern.compile("\\s*,\\s*");

    private final int line;
    private final String provider;
    private final String name;
    private final List<ProbeArgument> arguments;
    private String description = "";
    private Optional<ProbePair> pair = Optional.empty();
    private int pairLine;

    ProbeEntry(int line, String provider, String name, List<ProbeArgument> arguments) {
        this.line = line;
        this.provider = provider;
        this.name = name;
        this.arguments = arguments;
    }

    @Override
    public void line(Lines lines) {
        if (!lines.text().startsWith("pair ")) {
            description = CatalogParser.withSentence(lines, description, "'pair END'");
            return;
        }
        Matcher parts = PAIR.matcher(lines.text());
        if (!parts.matches()) {
            throw lines.error("expected 'pair END', 'pair END by ARGUMENT' or 'pair END by thread, ARGUMENT'");
        }
        if (pair.isPresent()) {
            throw lines.error("a probe begins one pair only, and line " + pairLine + " names it");
        }
        pairLine = lines.number();
        List<String> keys = new ArrayList<>(List.of(COMMA.split(parts.group(2) == null ? "thread" : parts.group(2))));
        boolean byThread = keys.remove("thread");
        pair = Optional.of(
                new ProbePair(name, CatalogParser.word(lines, parts.group(1), "a probe's name"), byThread, keys));
    }

    ProbeSignature signature() {
        return new ProbeSignature(provider, name, arguments, description, pair);
    }

    Optional<ProbePair> pair() {
        return pair;
    }

    String provider() {
        return provider;
    }

    String name() {
        return name;
    }

    List<ProbeArgument> arguments() {
        return arguments;
    }

    int lineNumber() {
        return line;
    }

    int pairLine() {
        return pairLine;
    }
}
