package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A name that does not exist, such as the name of a map in an object. The message has the nearest name that exists, if
 * one is near, and the others, if they are few.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code ErrorsTest}.
 */
public final class UnknownNameException extends BpfException {
    private static final long serialVersionUID = 1L;

    /** Up to so many names are all listed. */
    private static final int MAX_LISTED = 5;

    /** Longer names are compared by their beginning, to bound the cost for malicious names. */
    private static final int MAX_COMPARED = 100;

    private final @Nullable String nearest;

    /**
     * Creates the exception with all parts of its message.
     *
     * @param kind the kind of thing, such as {@code map}
     * @param name the name that was looked for
     * @param where the place that was searched, such as an object's file
     * @param known the names that exist there
     */
    public UnknownNameException(String kind, String name, String where, Collection<String> known) {
        super("no " + kind + " '" + name + "' in " + where + others(name, known));
        this.nearest = nearest(name, known).orElse(null);
    }

    /** The existing name that is most similar; empty if none is, as {@link #nearest(String, Collection)} says. */
    public Optional<String> nearest() {
        return Optional.ofNullable(nearest);
    }

    /**
     * The name with the fewest characters to change, insert or delete; empty if more than half of the characters of
     * {@code name} would change for any of them.
     */
    public static Optional<String> nearest(String name, Collection<String> known) {
        Nearest nearest = new Nearest(name);
        known.forEach(nearest::offer);
        return nearest.found();
    }

    /**
     * Finds the nearest of many names that come one after the other, such as the functions of a file. It keeps one of
     * them. A name is left out if more than half of the characters differ: of thousands of names, one is always
     * somewhat similar. Names that can't be nearer than the one that is kept, for instance because of their length,
     * cost next to nothing. <i>Confined.</i>
     */
    public static final class Nearest {
        private final String name;
        private @Nullable String nearest;
        private int distance;

        /** @param name the name that was looked for */
        public Nearest(String name) {
            this.name = name;
            this.distance = Math.min(name.length(), MAX_COMPARED) / 2 + 1;
        }

        /** Takes another name that exists. Of equally near names, the first one is kept. */
        public void offer(String other) {
            int changes = distance(name, other, distance);
            if (changes < distance) {
                distance = changes;
                nearest = other;
            }
        }

        /** The name with the fewest characters to change, insert or delete so far; empty if none was near. */
        public Optional<String> found() {
            return Optional.ofNullable(nearest);
        }
    }

    private static String others(String name, Collection<String> known) {
        List<String> names = known.stream().distinct().sorted().toList();
        return switch (names.size()) {
            case 0 -> ", which has none";
            case 1 -> "; the only one is '" + names.getFirst() + "'";
            default ->
                nearest(name, names)
                                .map(nearest -> "; the nearest is '" + nearest + "' among ")
                                .orElse("; there are ")
                        + (names.size() > MAX_LISTED
                                ? String.valueOf(names.size())
                                : names.stream().map(other -> "'" + other + "'").collect(Collectors.joining(", ")));
        };
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
