package io.bpf4j.loader.error;

import io.bpf4j.elf.internal.text.NearestName;
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
        this.nearest = NearestName.of(name, known).orElse(null);
    }

    /**
     * The existing name with the fewest characters to change, insert or delete; empty if more than half of the
     * characters would change for any of them.
     */
    public Optional<String> nearest() {
        return Optional.ofNullable(nearest);
    }

    private static String others(String name, Collection<String> known) {
        List<String> names = known.stream().distinct().sorted().toList();
        return switch (names.size()) {
            case 0 -> ", which has none";
            case 1 -> "; the only one is '" + names.getFirst() + "'";
            default ->
                NearestName.of(name, names)
                                .map(nearest -> "; the nearest is '" + nearest + "' among ")
                                .orElse("; there are ")
                        + (names.size() > MAX_LISTED
                                ? String.valueOf(names.size())
                                : names.stream().map(other -> "'" + other + "'").collect(Collectors.joining(", ")));
        };
    }
}
