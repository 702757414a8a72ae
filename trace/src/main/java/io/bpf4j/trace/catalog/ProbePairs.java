package io.bpf4j.trace.catalog;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Joins the beginnings of pairs with their ends, which may come in any order in a file.
 *
 * <p>Tested by {@code CatalogParserTest}.
 */
final class ProbePairs {
    private ProbePairs() {}

    /** The signatures, in order. A probe that begins no pair, but ends some, has the first pair that it ends. */
    static List<ProbeSignature> joined(Lines lines, List<ProbeEntry> entries) {
        Map<String, List<ProbeEntry>> byName = new HashMap<>();
        entries.forEach(entry -> byName.computeIfAbsent(entry.provider() + ":" + entry.name(), _ -> new ArrayList<>(1))
                .add(entry));
        Map<String, ProbePair> byEnd = new HashMap<>();
        for (ProbeEntry begin : entries) {
            begin.pair().ifPresent(pair -> {
                String end = begin.provider() + ":" + pair.end();
                check(lines, begin, pair, byName.getOrDefault(end, List.of()));
                byEnd.putIfAbsent(end, pair);
            });
        }
        List<ProbeSignature> signatures = new ArrayList<>(entries.size());
        for (ProbeEntry entry : entries) {
            ProbePair ended = byEnd.get(entry.provider() + ":" + entry.name());
            ProbeSignature signature = entry.signature();
            signatures.add(entry.pair().isPresent() || ended == null ? signature : signature.withPair(ended));
        }
        return signatures;
    }

    private static void check(Lines lines, ProbeEntry begin, ProbePair pair, List<ProbeEntry> ends) {
        if (ends.isEmpty()) {
            throw lines.error(
                    begin.pairLine(),
                    "expected an entry for " + begin.provider() + ":" + pair.end()
                            + " in this file, because it ends a pair");
        }
        pair.argument().ifPresent(argument -> {
            checkArgument(lines, begin, begin, argument);
            ends.forEach(end -> checkArgument(lines, begin, end, argument));
        });
    }

    private static void checkArgument(Lines lines, ProbeEntry begin, ProbeEntry probe, String name) {
        if (probe.arguments().stream()
                .noneMatch(argument -> argument.name().equals(name)
                        && (argument.type() instanceof ArgumentType.Int
                                || argument.type() instanceof ArgumentType.Pointer))) {
            throw lines.error(
                    begin.pairLine(),
                    "expected an integer or pointer argument that both probes have: " + probe.name() + " has no such '"
                            + name + "'");
        }
    }
}
