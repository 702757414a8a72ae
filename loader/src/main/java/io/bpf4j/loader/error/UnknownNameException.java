package io.bpf4j.loader.error;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Nothing of that kind has that name, such as a map of an object. The message says which name is the nearest.
 * <i>Immutable.</i>
 *
 * <p>Tested by {@code ErrorsTest}.
 */
public final class UnknownNameException extends BpfException {
    private static final long serialVersionUID = 1L;

    /** So many names are all shown. */
    private static final int FEW = 5;

    /** Longer names are compared by their beginning, to bound the cost for hostile names. */
    private static final int COMPARED = 100;

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

    /** The name that exists and is most like it; empty if none exists. */
    public Optional<String> nearest() {
        return Optional.ofNullable(nearest);
    }

    /** The name with the fewest characters to change, insert or delete; empty if there are no names. */
    public static Optional<String> nearest(String name, Collection<String> known) {
        Nearest nearest = new Nearest(name, Integer.MAX_VALUE);
        known.forEach(nearest::offer);
        return nearest.found();
    }

    /**
     * Finds the nearest of many names that come one after the other, such as the functions of a file. It keeps one of
     * them. A name is left out if more than half of the characters differ: of thousands of names, one is always somewhat
     * like another. Names that can't be nearer than the one that is kept, as by their length, cost next to nothing.
     * <i>Confined.</i>
     */
    public static final class Nearest {
        private final String name;
        private @Nullable String nearest;
        private int distance;

        /** @param name the name that was looked for */
        public Nearest(String name) {
            this(name, Math.min(name.length(), COMPARED) / 2 + 1);
        }

        private Nearest(String name, int limit) {
            this.name = name;
            this.distance = limit;
        }

        /** Takes another name that exists. Of names that are as near, the first one stays. */
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
        String nearest = nearest(name, names).orElse("");
        return switch (names.size()) {
            case 0 -> ", which has none";
            case 1 -> "; the only one is '" + nearest + "'";
            default ->
                "; the nearest is '" + nearest + "' among "
                        + (names.size() > FEW
                                ? String.valueOf(names.size())
                                : names.stream().map(other -> "'" + other + "'").collect(Collectors.joining(", ")));
        };
    }

    /** Levenshtein's edit distance, or the limit if the distance is not less. */
    static int distance(String left, String right, int limit) {
        String a = left.substring(0, Math.min(COMPARED, left.length()));
        String b = right.substring(0, Math.min(COMPARED, right.length()));
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
            int least = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                current[j] = Math.min(replaced, 1 + Math.min(previous[j], current[j - 1]));
                least = Math.min(least, current[j]);
            }
            if (least >= limit) {
                return limit;
            }
            int[] swap = previous;
            previous = current;
            current = swap;
        }
        return Math.min(previous[b.length()], limit);
    }
}
