package io.bpf4j.trace;

import io.bpf4j.loader.internal.glob.Glob;
import io.bpf4j.process.ControlGroups;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The control groups of a systemd unit, a container or a pod, or those at a path. <i>Immutable.</i>
 *
 * <p>The names of groups are conventions of the programs that make them, and whoever may make groups can use any name.
 * So units, containers and pods are taken only where root or the user of this process has named all groups on the way,
 * and containers and pods only outside of containers: what is in a container belongs to it, because root of the
 * container may make groups with any name. Others are selected by their paths.
 *
 * <p>Tested by {@code GroupPatternTest}.
 *
 * @param kind how the text names groups
 * @param text as the user wrote it
 */
record GroupPattern(Kind kind, String text) implements ControlGroups.Search {
    /** What a text names. */
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

    GroupPattern {
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
        Glob _ = glob(kind, text);
    }

    private static Glob glob(Kind kind, String text) {
        boolean typeless = kind == Kind.UNIT && UNIT_TYPES.stream().noneMatch(text::endsWith);
        return Glob.ofName(typeless ? text + ".service" : text);
    }

    private List<String> parts() {
        return Arrays.stream(text.split("/", -1))
                .filter(part -> !part.isEmpty())
                .toList();
    }

    @Override
    public boolean matches(List<String> names, boolean trusted) {
        if (kind == Kind.CGROUP) {
            return names.size() == parts().size() && isOnPath(names);
        }
        if (names.isEmpty() || !trusted) {
            return false;
        }
        return switch (kind) {
            case CGROUP -> false;
            case UNIT -> inSlice(names) && glob(kind, text).matches(names.getLast());
            case CONTAINER -> found(CONTAINER, names.getLast()).startsWith(text);
            case POD -> found(POD, names.getLast()).replace('_', '-').equals(text);
        };
    }

    /**
     * The name that a group has as a unit, container or pod; empty if it is none. The name counts only where nobody else
     * can have made it.
     */
    static Optional<String> nameOf(Kind kind, List<String> names) {
        String last = names.getLast();
        boolean isUnit = UNIT_TYPES.stream().anyMatch(last::endsWith) && inSlice(names);
        return Optional.of(
                        switch (kind) {
                            case UNIT -> isUnit ? last : "";
                            case CONTAINER -> found(CONTAINER, last);
                            case POD -> found(POD, last).replace('_', '-');
                            case CGROUP -> "";
                        })
                .filter(name -> !name.isEmpty());
    }

    private static boolean isContainer(List<String> names) {
        return !names.isEmpty() && !found(CONTAINER, names.getLast()).isEmpty();
    }

    /** Systemd has units in slices only. */
    private static boolean inSlice(List<String> names) {
        return names.subList(0, names.size() - 1).stream().allMatch(name -> name.endsWith(".slice"));
    }

    private static String found(Pattern pattern, String name) {
        Matcher matcher = pattern.matcher(name);
        return matcher.matches() ? matcher.group(1) : "";
    }

    @Override
    public boolean descends(List<String> names, boolean trusted) {
        return switch (kind) {
            case CGROUP -> names.size() < parts().size() && isOnPath(names);
            case UNIT -> trusted && names.stream().allMatch(name -> name.endsWith(".slice"));
            case CONTAINER, POD -> trusted && !isContainer(names);
        };
    }

    private boolean isOnPath(List<String> names) {
        List<String> parts = parts();
        for (int i = 0; i < names.size(); i++) {
            if (!Glob.ofName(parts.get(i)).matches(names.get(i))) {
                return false;
            }
        }
        return true;
    }

    /** {@code unit=nginx.service}. */
    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT) + "=" + text;
    }
}
