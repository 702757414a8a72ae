package io.bpf4j.trace;

import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.process.ControlGroups;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The control groups of a systemd unit, a container or a pod, or those at a path. <i>Immutable.</i>
 *
 * <p>The names of groups are conventions of the programs that make them, and a user who may make groups can use any
 * name. So a unit, container or pod is recognized only where root or the user of this process has made all groups of
 * the path, and a container or pod only outside of containers: every group in a container belongs to it, because root
 * of the container may make groups with any name. Others are selected by their paths.
 *
 * <p>Tested by {@code GroupPatternTest}.
 */
final class GroupPattern implements ControlGroups.Search {
    /** The kind of thing that a text names. */
    enum Kind {
        UNIT,
        CONTAINER,
        POD,
        CGROUP
    }

    private static final List<String> UNIT_TYPES =
            List.of(".service", ".scope", ".slice", ".socket", ".mount", ".swap");

    /**
     * {@code docker-ID.scope}, {@code cri-containerd-ID.scope}, {@code crio-ID.scope}, {@code libpod-ID.scope}, or the
     * id alone where the runtime doesn't use systemd. Beside them CRI-O and Podman have groups of their monitors.
     */
    private static final Pattern CONTAINER =
            Pattern.compile("(?:(?![a-z-]*conmon-)[a-z-]+-)?([0-9a-f]{64})(?:\\.scope)?");

    /** {@code kubepods-burstable-podUID.slice}, in which the kubelet writes _ for -, or {@code podUID}. */
    private static final Pattern POD = Pattern.compile(
            "(?:kubepods(?:-burstable|-besteffort)?-)?pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})(?:\\.slice)?");

    private static final Pattern ID = Pattern.compile("[0-9a-f]{12,64}");
    private static final Pattern UID = Pattern.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    private final Kind kind;

    /** As the user wrote it. */
    private final String text;

    /** For a unit, the pattern of its name; for a path, one for each name on it. */
    private final List<Glob> names;

    /**
     * A pattern.
     *
     * @param kind how the text names groups
     * @throws IllegalArgumentException if the text is not a name of this kind
     */
    GroupPattern(Kind kind, String text) {
        check(kind, text);
        this.kind = kind;
        this.text = text;
        this.names = switch (kind) {
            case UNIT -> List.of(Glob.ofName(isTyped(text) ? text : text + ".service"));
            case CGROUP ->
                Arrays.stream(text.split("/", -1))
                        .filter(name -> !name.isEmpty())
                        .map(Glob::ofName)
                        .toList();
            case CONTAINER, POD -> List.of();
        };
    }

    private static void check(Kind kind, String text) {
        switch (kind) {
            case UNIT -> {
                if (text.isEmpty() || text.contains("/")) {
                    throw new IllegalArgumentException(
                            "'" + text + "' is not a unit of systemd, such as nginx.service");
                }
            }
            case CONTAINER -> {
                if (!ID.matcher(text).matches()) {
                    throw new IllegalArgumentException("'" + text
                            + "' is not the id of a container: give at least its first 12 digits, as 'docker ps',"
                            + " 'podman ps' and 'crictl ps' print them");
                }
            }
            case POD -> {
                if (!UID.matcher(text).matches()) {
                    throw new IllegalArgumentException("'" + text + "' is not the uid of a pod: kubectl get pod NAME -o"
                            + " jsonpath={.metadata.uid} prints it");
                }
            }
            case CGROUP -> {
                if (!text.startsWith("/")) {
                    throw new IllegalArgumentException("'" + text
                            + "' is not the path of a control group: it begins with /, as in /proc/PID/cgroup");
                }
            }
        }
    }

    private static boolean isTyped(String unit) {
        return UNIT_TYPES.stream().anyMatch(unit::endsWith);
    }

    @Override
    public boolean matches(List<String> path, boolean trusted) {
        if (kind == Kind.CGROUP) {
            return path.size() == names.size() && isOnPath(path);
        }
        if (path.isEmpty() || !trusted) {
            return false;
        }
        return switch (kind) {
            case CGROUP -> false;
            case UNIT -> inSlice(path) && names.getFirst().matches(path.getLast());
            case CONTAINER -> found(CONTAINER, path.getLast()).startsWith(text);
            case POD -> found(POD, path.getLast()).replace('_', '-').equals(text);
        };
    }

    /**
     * The name that a group has as a unit, container or pod; empty if it is none. The name counts only where no other
     * user can have made it.
     */
    static Optional<String> nameOf(Kind kind, List<String> path) {
        String last = path.getLast();
        boolean isUnit = isTyped(last) && inSlice(path);
        return Optional.of(
                        switch (kind) {
                            case UNIT -> isUnit ? last : "";
                            case CONTAINER -> found(CONTAINER, last);
                            case POD -> found(POD, last).replace('_', '-');
                            case CGROUP -> "";
                        })
                .filter(name -> !name.isEmpty());
    }

    private static boolean isContainer(List<String> path) {
        return !path.isEmpty() && !found(CONTAINER, path.getLast()).isEmpty();
    }

    /** Systemd has units in slices only. */
    private static boolean inSlice(List<String> path) {
        return path.subList(0, path.size() - 1).stream().allMatch(name -> name.endsWith(".slice"));
    }

    private static String found(Pattern pattern, String name) {
        Matcher matcher = pattern.matcher(name);
        return matcher.matches() ? matcher.group(1) : "";
    }

    @Override
    public boolean descends(List<String> path, boolean trusted) {
        return switch (kind) {
            case CGROUP -> path.size() < names.size() && isOnPath(path);
            case UNIT -> trusted && path.stream().allMatch(name -> name.endsWith(".slice"));
            case CONTAINER, POD -> trusted && !isContainer(path);
        };
    }

    private boolean isOnPath(List<String> path) {
        for (int i = 0; i < path.size(); i++) {
            if (!names.get(i).matches(path.get(i))) {
                return false;
            }
        }
        return true;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof GroupPattern pattern && kind == pattern.kind && text.equals(pattern.text);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, text);
    }

    /** {@code unit=nginx.service}. */
    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT) + "=" + text;
    }
}
