package io.bpf4j.elf.internal.text;

import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The nearest of many names that come one after the other, such as the functions of a file: the one with the fewest
 * characters to change, insert or delete. It keeps one of them. A name is left out if more than half of the characters
 * differ: of thousands of names, one is always somewhat similar. Names that can't be nearer than the one that is kept,
 * for instance because of their length, cost next to nothing. <i>Confined.</i>
 *
 * <p>Tested by {@code NearestNameTest}.
 */
public final class NearestName {
    /** Longer names are compared by their beginning, to bound the cost for malicious names. */
    private static final int MAX_COMPARED = 100;

    private final String name;
    private @Nullable String nearest;
    private int distance;

    /** @param name the name that was looked for */
    public NearestName(String name) {
        this.name = name;
        this.distance = Math.min(name.length(), MAX_COMPARED) / 2 + 1;
    }

    /** The nearest of names that exist; empty if none is near. */
    public static Optional<String> of(String name, Collection<String> known) {
        NearestName nearest = new NearestName(name);
        known.forEach(nearest::offer);
        return nearest.found();
    }

    /** Takes another name that exists. Of equally near names, the first one is kept. */
    public void offer(String other) {
        int changes = distance(name, other, distance);
        if (changes < distance) {
            distance = changes;
            nearest = other;
        }
    }

    /** The nearest name so far; empty if none was near. */
    public Optional<String> found() {
        return Optional.ofNullable(nearest);
    }

    /** Levenshtein's edit distance, or the limit if the distance is not less. */
    static int distance(String left, String right, int limit) {
        String a = left.substring(0, Math.min(MAX_COMPARED, left.length()));
        String b = right.substring(0, Math.min(MAX_COMPARED, right.length()));
        if (Math.abs(a.length() - b.length()) >= limit) {
            return limit;
        }
        int[] previous = new int[b.length() + 1];
        int[] current = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            previous[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            current[0] = i;
            int minimum = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
                minimum = Math.min(minimum, current[j]);
            }
            if (minimum >= limit) {
                return limit;
            }
            int[] unused = previous;
            previous = current;
            current = unused;
        }
        return Math.min(previous[b.length()], limit);
    }
}
