package io.bpf4j.test.again;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Prints what became of each class in all rounds. */
final class Table {
    private final Again.Options options;
    private final long seed;
    private final Path folder;

    Table(Again.Options options, long seed, Path folder) {
        this.options = options;
        this.seed = seed;
        this.folder = folder;
    }

    /** How much of a failure is printed. */
    private static final int LINES = 15;

    private static final int CHARACTERS = 1000;

    private static final class Row {
        private int runs;
        private int reds;
        private int tests;
        private final List<String> skipped = new ArrayList<>();
        private long millis;
        private long longest;
        private final List<String> repeats = new ArrayList<>();
    }

    /** Whether nothing was red. */
    boolean print(List<Suite> suites) throws IOException {
        System.out.printf("%n%-60s %5s %5s %12s %12s%n", "class", "runs", "reds", "mean s", "longest s");
        int runs = 0;
        int reds = 0;
        int tests = 0;
        List<String> skipped = new ArrayList<>();
        for (Suite suite : suites) {
            for (String name : suite.classes()) {
                Row row = row(suite, name);
                runs += row.runs;
                reds += row.reds;
                tests += row.tests;
                skipped.addAll(row.skipped);
                System.out.printf(
                        "%-60s %5d %5d %12.1f %12.1f%n",
                        name.substring("io.bpf4j.".length()),
                        row.runs,
                        row.reds,
                        row.millis / 1e3 / Math.max(1, row.runs),
                        row.longest / 1e3);
                row.repeats.forEach(System.out::println);
            }
        }
        long selected = (long) options.rounds()
                * suites.stream().mapToInt(suite -> suite.classes().size()).sum();
        if (runs < selected) {
            System.out.printf("%n%d of %d runs were not begun when the time was over%n", selected - runs, selected);
        }
        System.out.printf(
                "%n%d runs of a class with %d tests, of which %d were skipped; %d red; what failed is in %s%n",
                runs, tests, skipped.size(), reds, folder);
        if (!skipped.isEmpty()) {
            System.out.println("skipped for " + counts(skipped));
        }
        return reds == 0 && runs > 0;
    }

    /** {@code LSM 12, KPROBES GO 3}: the most first. */
    private static String counts(List<String> all) {
        return all.stream()
                .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
                .entrySet()
                .stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .map(each -> each.getKey() + " " + each.getValue())
                .collect(Collectors.joining(", "));
    }

    private Row row(Suite suite, String name) throws IOException {
        Row row = new Row();
        for (int round = 0; round < options.rounds(); round++) {
            for (Outcome outcome : RoundFiles.of(folder, suite, round).ended()) {
                if (outcome.testClass().equals(name)) {
                    row.runs++;
                    row.tests += outcome.tests();
                    row.skipped.addAll(outcome.skipped());
                    row.millis += outcome.millis();
                    row.longest = Math.max(row.longest, outcome.millis());
                    if (outcome.isRed()) {
                        row.reds++;
                        row.repeats.add(repeat(suite, round, outcome));
                    }
                }
            }
        }
        return row;
    }

    /** Three lines: the names of the failed tests, the beginning of the first failure, the command that repeats it. */
    private String repeat(Suite suite, int round, Outcome outcome) throws IOException {
        Condition condition = options.condition().orElse(Condition.ofRound(round));
        String load = options.load().map(l -> " --load " + l).orElse("");
        return "    " + String.join(" | ", outcome.failed()) + "\n    " + failure(suite, round, outcome)
                + "\n    test/again --rounds 1 --condition " + condition.option() + load + " --seed " + (seed + round)
                + " "
                + outcome.testClass();
    }

    /** What {@link Round} has written of the first failure, on one line. */
    private String failure(Suite suite, int round, Outcome outcome) throws IOException {
        Path file = RoundFiles.of(folder, suite, round).failures().resolve(outcome.testClass() + ".txt");
        if (!Files.exists(file)) {
            return "(no message)";
        }
        String text = Files.readString(file).lines().skip(1).limit(LINES).collect(Collectors.joining(" "));
        return text.substring(0, Math.min(text.length(), CHARACTERS));
    }
}
