package io.bpf4j.test.again;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * What became of a test class in a round. It is a line of a file, with tabs between its fields.
 *
 * @param ended false for a class that has begun
 * @param tests that ran, with those that failed
 * @param skipped for each test or class that was skipped, the requirements that were missing
 * @param failed the display names of tests and containers that failed
 */
record Outcome(String testClass, boolean ended, int tests, List<String> skipped, List<String> failed, long millis) {
    static Outcome began(String testClass) {
        return new Outcome(testClass, false, 0, List.of(), List.of(), 0);
    }

    /** Of a class in which the JVM ended or hung. */
    static Outcome unfinished(String testClass, String how, long millis) {
        return new Outcome(testClass, true, 0, List.of(), List.of(how), millis);
    }

    boolean isRed() {
        return !failed.isEmpty();
    }

    String line() {
        return String.join(
                "\t",
                testClass,
                ended ? "ended" : "began",
                Integer.toString(tests),
                joined(skipped),
                Long.toString(millis),
                joined(failed));
    }

    static Outcome parse(String line) {
        String[] fields = line.split("\t", 6);
        return new Outcome(
                fields[0],
                fields[1].equals("ended"),
                Integer.parseInt(fields[2]),
                list(fields[3]),
                list(fields[5]),
                Long.parseLong(fields[4]));
    }

    private static String joined(List<String> all) {
        return String.join(" | ", all).replaceAll("\\s+", " ");
    }

    private static List<String> list(String joined) {
        return joined.isEmpty() ? List.of() : Arrays.asList(joined.split(" \\| ", -1));
    }

    /** The names of the classes that have begun, of a file that {@link Round} writes. */
    static List<String> begun(Path file) throws IOException {
        return lines(file).stream()
                .filter(outcome -> !outcome.ended())
                .map(Outcome::testClass)
                .toList();
    }

    /** Of the classes that have ended. */
    static List<Outcome> ended(Path file) throws IOException {
        return lines(file).stream().filter(Outcome::ended).toList();
    }

    private static List<Outcome> lines(Path file) throws IOException {
        return Files.exists(file)
                ? Files.readAllLines(file).stream().map(Outcome::parse).toList()
                : List.of();
    }
}
