package io.bpf4j.test.again;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of one round of a module. Each JVM that runs classes at the same time has a number and writes files of its
 * own; they share the folder of claims, in which a class has a file from its begin on.
 */
record RoundFiles(Path folder, String name) {
    static RoundFiles of(Path folder, Suite suite, int round) {
        return new RoundFiles(folder, suite.name() + "-" + round);
    }

    /** One line for each class that has begun and one for each that has ended: see {@link Outcome}. */
    Path outcomes(int jvm) {
        return folder.resolve(name + "." + jvm + ".tsv");
    }

    /** What a JVM and its tests print. */
    Path log(int jvm) {
        return folder.resolve(name + "." + jvm + ".log");
    }

    /** A file for each class with failures. */
    Path failures() {
        return folder.resolve(name + ".red");
    }

    Path claims() {
        return folder.resolve(name + ".claims");
    }

    /** What became of the classes that have ended, in whichever JVM. */
    List<Outcome> ended() throws IOException {
        List<Outcome> outcomes = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                String of = file.getFileName().toString();
                if (of.startsWith(name + ".") && of.endsWith(".tsv")) {
                    outcomes.addAll(Outcome.ended(file));
                }
            }
        }
        return outcomes;
    }
}
