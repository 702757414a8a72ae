package io.bpf4j.test.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the machine of a run is known to lack: its lines of {@code test/machines.txt}. <i>Immutable.</i>
 *
 * @param machine its names, as they were given
 * @param certain what it lacks
 * @param possible what it may lack
 */
record KnownLacks(String machine, Set<Requirement> certain, Set<Requirement> possible) {
    private static final Pattern LINE = Pattern.compile("(\\S+) +(lacks|may-lack) +([A-Z0-9_ ]+): (\\S.*)");

    /** Of this run, by the environment. */
    static KnownLacks ofThisRun() {
        return of(System.getenv().getOrDefault("BPF4J_MACHINE", ""), lines());
    }

    static List<String> lines() {
        try {
            return Files.readAllLines(TargetProgram.testModule().resolve("machines.txt"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Reads the lines of a machine.
     *
     * @param machine one word or more; all lines of these words count
     * @throws IllegalArgumentException if a line is wrong, a word has no line, or a requirement that is listed does not
     *     exist
     */
    static KnownLacks of(String machine, List<String> lines) {
        Set<String> wanted = Set.copyOf(
                Stream.of(machine.split(" ")).filter(word -> !word.isEmpty()).toList());
        Set<String> found = new HashSet<>();
        Set<Requirement> certain = EnumSet.noneOf(Requirement.class);
        Set<Requirement> possible = EnumSet.noneOf(Requirement.class);
        for (String line : lines) {
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            Matcher parts = LINE.matcher(line);
            if (!parts.matches()) {
                throw new IllegalArgumentException("not MACHINE lacks|may-lack NAME...: why, but " + line);
            }
            List<Requirement> names = Stream.of(parts.group(3).split(" "))
                    .map(Requirement::valueOf)
                    .toList();
            if (wanted.contains(parts.group(1))) {
                found.add(parts.group(1));
                (parts.group(2).equals("lacks") ? certain : possible).addAll(names);
            }
        }
        if (!found.containsAll(wanted)) {
            throw new IllegalArgumentException("test/machines.txt has no line for one of: " + machine);
        }
        certain.removeAll(possible);
        return new KnownLacks(machine, certain, possible);
    }
}
