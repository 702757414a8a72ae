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
 * @param skipped tests or classes, for a requirement that is missing
 * @param failed the display names of tests and containers that failed
 */
record Outcome(String testClass, boolean ended, int tests, int skipped, List<String> failed, long millis) {
    static Outcome began(String testClass) {
        return new Outcome(testClass, false, 0, 0, List.of(), 0);
    }

    /** Of a class in which the JVM ended or hung. */
    static Outcome unfinished(String testClass, String how, long millis) {
        return new Outcome(testClass, true, 0, 0, List.of(how), millis);
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
                Integer.toString(skipped),
                Long.toString(millis),
                String.join(" | ", failed).replaceAll("\\s+", " "));
    }

    static Outcome parse(String line) {
        String[] fields = line.split("\t", 6);
        return new Outcome(
                fields[0],
                fields[1].equals("ended"),
                Integer.parseInt(fields[2]),
                Integer.parseInt(fields[3]),
                fields[5].isEmpty() ? List.of() : Arrays.asList(fields[5].split(" \\| ", -1)),
                Long.parseLong(fields[4]));
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
