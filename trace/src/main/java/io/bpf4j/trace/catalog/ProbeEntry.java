package io.bpf4j.trace.catalog;

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
    private static final Pattern PAIR = Pattern.compile("pair\\s+(\\S+)(?:\\s+by\\s+(\\S+))?");

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
            throw lines.error("expected 'pair END' or 'pair END by ARGUMENT'");
        }
        if (pair.isPresent()) {
            throw lines.error("a probe can begin only one pair, which line " + pairLine + " declares");
        }
        pairLine = lines.number();
        String end = CatalogParser.word(lines, parts.group(1), "a probe's name");
        pair = Optional.of(new ProbePair(name, end, Optional.ofNullable(parts.group(2))));
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
