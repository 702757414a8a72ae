package io.bpf4j.trace;

import io.bpf4j.process.ControlGroups;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.trace.GroupPattern.Kind;
import java.io.IOException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The units, containers and pods to which control groups belong. Events have the number of a group only; a search of
 * all groups finds the name that belongs to it. <i>Thread-safe.</i>
 *
 * <p>A group belongs to the last unit, container or pod that its path names. But every group in a container belongs to
 * that container, because root of the container may make groups with any names. Names count only where {@link
 * GroupPattern} trusts them: where no other user can have made them.
 *
 * <p>The number of a group is never used again (kernfs_root's {@code id_highbits}), so a name that was found stays right
 * when the group is gone. The name of a group that has come and gone between two searches is unknown. Its number is
 * shown instead, and a {@link #hint} says so.
 *
 * <p>Tested by {@code GroupNamesTest} and {@code GroupsOnKernelTest}.
 */
final class GroupNames {
    /** Twice as many as a search may visit. */
    private static final int MAX_KNOWN = 1 << 17;

    private static final long INTERVAL_NANOS = 200_000_000;

    /** The least pause after a search, as a multiple of its duration. */
    private static final int REST_FACTOR = 20;

    /** The maximum age of a search that tells whether a name has ended; if it is older, a new search is made. */
    private static final long FRESH_NANOS = 10_000_000_000L;

    /**
     * The maximum number of groups of other users that are searched, and their maximum depth; more than systemd and
     * runtimes need.
     */
    private static final int MAX_FOREIGN = 4096;

    private static final int MAX_FOREIGN_DEPTH = 32;

    /** The prefix of the number of a group without a name. */
    private static final String NUMBER = "cgroup:";

    private static final Names NONE = new Names("", "", "");

    private final Host host;

    /** By number; the group that was needed least recently is forgotten first. */
    private final Map<Long, Names> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Names> eldest) {
            return size() > MAX_KNOWN;
        }
    };

    /** The groups that a search did not find. No later search will find them, so none is made for them. */
    private final Set<Long> gone = new HashSet<>();

    /** Groups for which the number was given instead of a name. */
    private final Set<Long> numbered = new HashSet<>();

    private String failure = "";
    private boolean firstVersion;

    /** Whether a search has left out groups. */
    private boolean cut;

    /** The names of all groups that the last search has found, of units, containers and pods. */
    private Map<Kind, Set<String>> present = Map.of();

    /** Whether the last search has found each group whose own name counts. */
    private boolean complete;

    private long lastSearch = System.nanoTime();

    /** The earliest time of the next search, and of one for a single event. */
    private long nextSearch = System.nanoTime();

    private long nextForEvent = System.nanoTime();

    private record Names(String unit, String container, String pod) {
        String of(Kind kind) {
            return switch (kind) {
                case UNIT -> unit;
                case CONTAINER -> container;
                case POD -> pod;
                case CGROUP -> throw new IllegalArgumentException("a path is not a name");
            };
        }

        /** The names of a group below, whose own name is trusted. */
        Names with(List<String> names) {
            return new Names(
                    GroupPattern.nameOf(Kind.UNIT, names).orElse(unit),
                    GroupPattern.nameOf(Kind.CONTAINER, names).orElse(container),
                    GroupPattern.nameOf(Kind.POD, names).orElse(pod));
        }
    }

    /**
     * Searches all groups.
     *
     * @throws IOException if no file system of type cgroup2 is mounted, or the groups can't be read
     */
    GroupNames(Host host) throws IOException {
        this.host = host;
        search();
    }

    /**
     * The name of the unit, container or pod to which a group belongs: empty if it belongs to none, {@code cgroup:} and
     * the group's number if the group is gone.
     */
    synchronized String name(Kind kind, long id) {
        Names names = known.get(id);
        if (names == null && System.nanoTime() - nextForEvent >= 0) {
            find(List.of(id));
            names = known.get(id);
        }
        if (names == null) {
            addBounded(numbered, id);
            return NUMBER + Long.toUnsignedString(id);
        }
        return names.of(kind);
    }

    /** Searches if one of these groups is unknown. */
    synchronized void find(Collection<Long> ids) {
        if (System.nanoTime() - nextSearch >= 0
                && !ids.stream().allMatch(id -> known.containsKey(id) || gone.contains(id))
                && searchAgain()) {
            ids.stream().filter(id -> !known.containsKey(id)).forEach(id -> addBounded(gone, id));
        }
    }

    /**
     * Whether no group has a name any more, so that no thread is in one: a group is removed when it has none (cgroup_rmdir).
     * False if that is unknown. The name may come back, such as that of a unit that is started again.
     */
    synchronized boolean hasEnded(Kind kind, String name) {
        long now = System.nanoTime();
        if (now - lastSearch > FRESH_NANOS && now - nextSearch >= 0) {
            boolean _ = searchAgain();
        }
        return complete
                && System.nanoTime() - lastSearch <= 2 * FRESH_NANOS
                && !name.isEmpty()
                && !name.startsWith(NUMBER)
                && !present.getOrDefault(kind, Set.of()).contains(name);
    }

    /** Returns whether the search did not fail. */
    private boolean searchAgain() {
        long began = System.nanoTime();
        try {
            search();
            failure = "";
        } catch (IOException e) {
            failure = String.valueOf(e.getMessage());
        }
        long end = System.nanoTime();
        nextSearch = end + REST_FACTOR * (end - began);
        nextForEvent = Math.max(nextSearch, end + INTERVAL_NANOS);
        return failure.isEmpty();
    }

    private static void addBounded(Set<Long> ids, long id) {
        if (ids.size() < MAX_KNOWN) {
            ids.add(id);
        }
    }

    private void search() throws IOException {
        ControlGroups groups = ControlGroups.of(host);
        firstVersion = groups.areBesideFirstVersion();
        Map<List<String>, Names> byPath = new HashMap<>();
        // Below these, the names of groups do not count.
        Set<String> foreign = new HashSet<>();
        boolean[] whole = {true};
        long began = System.nanoTime();
        // Groups that are left out are unknown; this is reported when one of them is needed.
        groups.visit(
                (group, trusted, trustedBelow) -> {
                    List<String> names = group.names();
                    Names above =
                            names.isEmpty() ? NONE : byPath.getOrDefault(names.subList(0, names.size() - 1), NONE);
                    byPath.put(
                            names,
                            known.computeIfAbsent(
                                    group.id(),
                                    _ -> names.isEmpty()
                                                    || !trusted
                                                    || !above.container().isEmpty()
                                            ? above
                                            : above.with(names)));
                    if (trusted && !trustedBelow) {
                        foreign.add(group.path());
                    }
                    return trustedBelow || names.size() < MAX_FOREIGN_DEPTH || leave();
                },
                MAX_FOREIGN,
                path -> {
                    cut = true;
                    whole[0] &= isIn(path, foreign);
                });
        present = Stream.of(Kind.UNIT, Kind.CONTAINER, Kind.POD)
                .collect(Collectors.toMap(
                        kind -> kind,
                        kind -> byPath.values().stream()
                                .map(names -> names.of(kind))
                                .collect(Collectors.toSet())));
        complete = whole[0];
        lastSearch = began;
    }

    /** Whether a group is one of others or below one. */
    private static boolean isIn(String path, Set<String> others) {
        for (int end = path.length(); end > 0; end = path.lastIndexOf('/', end - 1)) {
            if (others.contains(path.substring(0, end))) {
                return true;
            }
        }
        return others.contains("/");
    }

    private boolean leave() {
        cut = true;
        return false;
    }

    /** The reason why names are missing; empty if there is none. */
    synchronized Optional<Diagnostic> hint() {
        if (!numbered.isEmpty()) {
            return Optional.of(new Diagnostic(
                    Diagnostic.Kind.UNNAMED,
                    "",
                    (numbered.size() == 1 ? "a control group has" : numbered.size() + " control groups have")
                            + " no name here, because "
                            + (failure.isEmpty()
                                    ? "it had ended before the search, or is not visible from this control group"
                                            + " namespace"
                                            + (cut ? ", or is one of too many that another user has made" : "")
                                    : "the search of control groups failed: " + failure)
                            + "; its number is shown instead"));
        }
        return firstVersion
                ? Optional.of(new Diagnostic(
                        Diagnostic.Kind.HINT,
                        "",
                        "this machine also uses control groups of version 1; a unit, container or pod that has no group"
                                + " of version 2 is not named"))
                : Optional.empty();
    }
}
