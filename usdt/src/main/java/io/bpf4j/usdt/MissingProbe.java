package io.bpf4j.usdt;

import io.bpf4j.elf.internal.text.NearestName;
import io.bpf4j.sys.Diagnostic;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Explains why no probe matches a pattern, in one line. */
final class MissingProbe {
    private static final int NAMES_SHOWN = 5;

    private MissingProbe() {}

    static String explain(List<UsdtScan.File> files, ProbePattern pattern, String owner) {
        String where = (files.size() == 1 ? files.getFirst().name() : files.size() + " files")
                + (owner.isEmpty() ? "" : " of " + owner);
        List<UsdtProbe> probes =
                files.stream().flatMap(f -> f.probes().stream()).toList();
        if (probes.isEmpty()) {
            return "no USDT probes in " + whereWithProblem(files, where) + aboutJava(files);
        }
        Optional<Diagnostic> leftOut = leftOut(files, pattern);
        if (leftOut.isPresent()) {
            return "no probe " + pattern + (owner.isEmpty() ? "" : " of " + owner) + " that can be used: "
                    + leftOut.get();
        }
        List<UsdtProbe> ofProvider = probes.stream()
                .filter(p -> pattern.matchesProvider(p.provider()))
                .toList();
        if (ofProvider.isEmpty()) {
            TreeSet<String> providers = new TreeSet<>();
            probes.forEach(p -> providers.add(p.provider()));
            return "no probe " + pattern + " in " + where + ": " + (files.size() == 1 ? "it has" : "they have")
                    + " no provider '" + pattern.provider() + "', but "
                    + some(providers.stream().toList());
        }
        if (probes.stream().anyMatch(p -> pattern.matches(p.provider(), p.name()))) {
            return "no probe " + pattern + " in " + where + ": the name exists, but not in this module (the file's"
                    + " name) or function (from the file's symbols, which may be stripped); list -v shows both";
        }
        List<String> names =
                ofProvider.stream().map(UsdtProbe::fullName).distinct().toList();
        return "no probe " + pattern + " in " + where + " among the " + ofProvider.size() + " of that provider; "
                + NearestName.of(pattern.toString(), names)
                        .map("the nearest is "::concat)
                        .orElseGet(() -> "it has " + some(names));
    }

    /** Hints for two common mistakes in looking for the probes of a JVM. */
    private static String aboutJava(List<UsdtScan.File> files) {
        for (UsdtScan.File file : files) {
            if (lastName(file).equals("libjvm.so")) {
                return "; this JVM was built without them, like Oracle's builds; OpenJDK builds such as Temurin have"
                        + " them";
            }
        }
        return files.size() == 1 && lastName(files.getFirst()).equals("java")
                ? "; the probes of a JVM are in its lib/server/libjvm.so: name that file, or the pid of the running JVM"
                : "";
    }

    /** A note with the same name that was left out. */
    private static Optional<Diagnostic> leftOut(List<UsdtScan.File> files, ProbePattern pattern) {
        return files.stream()
                .flatMap(f -> f.problems().stream())
                .filter(problem -> problem.kind() == Diagnostic.Kind.LEFT_OUT
                        && pattern.isExact()
                        && problem.subject().equals(pattern.toString()))
                .findFirst();
    }

    private static String lastName(UsdtScan.File file) {
        return file.name().substring(file.name().lastIndexOf('/') + 1);
    }

    /** A problem begins with the name of its file. */
    private static String whereWithProblem(List<UsdtScan.File> files, String where) {
        return files.stream()
                .flatMap(f -> f.problems().stream().limit(1))
                .findFirst()
                .map(problem -> files.size() == 1 ? problem.message() : where + " (" + problem + ")")
                .orElse(where);
    }

    private static String some(List<String> names) {
        String shown = String.join(", ", names.subList(0, Math.min(NAMES_SHOWN, names.size())));
        return names.size() > NAMES_SHOWN ? shown + " and " + (names.size() - NAMES_SHOWN) + " more" : shown;
    }
}
