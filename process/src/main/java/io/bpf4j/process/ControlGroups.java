package io.bpf4j.process;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * The control groups (version 2) of the machine, as this process sees them: in a control group namespace, those below
 * its root. <i>Immutable.</i>
 *
 * <p>A group is a directory of the file system of type cgroup2 (Documentation/admin-guide/cgroup-v2.rst). BPF programs
 * know it by the number of its inode. Groups may be made and removed at any time.
 *
 * <p>Tested by {@code ControlGroupsTest}.
 *
 * @param host the machine that the groups are on
 * @param mount the directory of the root
 */
public record ControlGroups(Host host, Path mount) {
    private static final int MAX_LINE_BYTES = 1 << 14;

    /** Any byte of a name except 0. */
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?!000)[0-3][0-7]{2}");

    /**
     * The maximum number of visited groups: a user may make any number where the administrator allows it; the kernel's
     * limit is 2^31.
     */
    private static final int MAX_VISITED = 1 << 16;

    /** S_IWGRP and S_IWOTH of inode(7): LXC lets the user of a container make groups by the rights of its user group. */
    private static final int OTHERS_WRITE = 022;

    private static final long MAX_CONTROLLERS_BYTES = 1L << 16;

    /** In characters; a name of a group with others than ASCII may be left out by the kernel's error instead. */
    private static final int MAX_PATH = 4096 - 256;

    private static final long MAX_PROCS_BYTES = 1L << 24;

    /**
     * A control group.
     *
     * @param names those of the directories from the root to the group, which is the last; empty for the root
     * @param id by which BPF programs know it
     */
    public record Group(List<String> names, Path directory, long id) {
        /** {@code /system.slice/postgresql.service}. */
        public String path() {
            return "/" + String.join("/", names);
        }
    }

    /** Selects the groups that a search finds. */
    public interface Search {
        /**
         * Whether a group is selected. Groups below it are not searched, because they belong to it.
         *
         * @param trusted whether the directories above the group belong to root or to this process's user and nobody else
         *     may write to them, so that nobody else can have given the group its name
         */
        boolean matches(List<String> names, boolean trusted);

        /**
         * Whether the groups below a group are searched.
         *
         * @param trusted the same, of the groups below it
         */
        boolean descends(List<String> names, boolean trusted);
    }

    /** Visits groups. */
    public interface Visitor {
        /**
         * Visits a group.
         *
         * @param trusted whether the directories above the group belong to root or to this process's user and nobody else
         *     may write to them, so that nobody else can have given the group its name
         * @param trustedBelow the same, of the groups below it
         * @return whether the groups below it are visited, too
         */
        boolean visit(Group group, boolean trusted, boolean trustedBelow);
    }

    /**
     * The groups of a machine.
     *
     * @throws IOException if no file system of type cgroup2 is mounted
     */
    public static ControlGroups of(Host host) throws IOException {
        List<Path> whole = new ArrayList<>();
        List<Path> parts = new ArrayList<>();
        boolean _ = Lines.read(
                host.self().resolve("mountinfo"), MAX_LINE_BYTES, ProcessLimits.MAX_MOUNTS_BYTES, (line, length) -> {
                    // A character for each byte, which any name has.
                    String[] fields = new String(line, 0, length, StandardCharsets.ISO_8859_1).split(" ", -1);
                    for (int i = 6; i + 1 < fields.length; i++) {
                        if (fields[i].equals("-") && fields[i + 1].equals("cgroup2")) {
                            // A bind mount may show one group only, which is the root of the mount then.
                            (fields[3].equals("/") ? whole : parts)
                                    .add(unescaped(fields[4]).below(host.root()));
                        }
                    }
                    return whole.isEmpty();
                });
        whole.addAll(parts);
        if (whole.isEmpty()) {
            throw new IOException("no control groups of version 2 are mounted: mount -t cgroup2 none /sys/fs/cgroup");
        }
        return new ControlGroups(host, whole.getFirst());
    }

    /** The kernel writes blanks, line ends and backslashes of names as {@code \040}. */
    private static FileName unescaped(String field) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; i < field.length(); i++) {
            boolean escape = ESCAPE.matcher(field).region(i, field.length()).lookingAt();
            name.append(escape ? (char) Integer.parseInt(field.substring(i + 1, i + 4), 8) : field.charAt(i));
            i += escape ? 3 : 0;
        }
        return FileName.of(name.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /**
     * Whether the machine uses control groups of version 1, too. Then a program that makes groups may make them there
     * only, and its processes stay in a group of version 2 that it has not made.
     */
    public boolean areBesideFirstVersion() {
        boolean[] used = {false};
        try {
            // A line for each controller: its name, and the number of its hierarchy of version 1, or 0.
            boolean _ = Lines.read(host.proc().resolve("cgroups"), 128, MAX_CONTROLLERS_BYTES, (line, length) -> {
                String[] fields = new String(line, 0, length, StandardCharsets.US_ASCII).split("\t", -1);
                used[0] |= !fields[0].startsWith("#") && fields.length > 1 && !fields[1].equals("0");
                return !used[0];
            });
        } catch (IOException e) {
            return false; // a kernel without version 1 need not have the file
        }
        return used[0];
    }

    /**
     * The groups that a search finds now.
     *
     * @param leftOut receives the path of each group whose directory this process may not read, so that the groups below
     *     it are unknown
     * @throws IOException if a group can't be read for another reason, such as too many open files, or there are more
     *     than 65,536 groups to look at
     */
    public List<Group> find(Search search, Consumer<String> leftOut) throws IOException {
        List<Group> found = new ArrayList<>();
        visit(
                (group, trusted, trustedBelow) -> {
                    if (search.matches(group.names(), trusted)) {
                        found.add(group);
                        return false;
                    }
                    return search.descends(group.names(), trustedBelow);
                },
                MAX_VISITED,
                leftOut);
        return found;
    }

    /**
     * Visits groups, each before those below it.
     *
     * @param mostForeign how many groups are visited that others can have made; further ones are left out, so that a user
     *     who makes many does not keep this process busy
     * @param leftOut receives the path of each group whose directory this process may not read, so that the groups below
     *     it are unknown, or whose path is too long for the kernel; and the first that is left out because there are too
     *     many
     * @throws IOException if a group can't be read for another reason, such as too many open files, or there are more
     *     than 65,536 groups to look at
     */
    public void visit(Visitor visitor, int mostForeign, Consumer<String> leftOut) throws IOException {
        long user = (Integer) Files.getAttribute(host.self(), "unix:uid");
        Deque<Visit> visits = new ArrayDeque<>(List.of(new Visit(List.of(), mount, true)));
        int visited = 0;
        int foreign = 0;
        while (!visits.isEmpty()) {
            Visit visit = visits.pop();
            boolean tooMany = !visit.trusted && ++foreign > mostForeign;
            if (tooMany || isTooLong(visit.directory)) {
                if (!tooMany || foreign == mostForeign + 1) {
                    leftOut.accept("/" + String.join("/", visit.names));
                }
                continue;
            }
            if (++visited > MAX_VISITED) {
                throw new TooMuchException("there are more than " + MAX_VISITED + " control groups to search in "
                        + mount + "; name a group by its path, whose other groups are not searched");
            }
            try {
                Map<String, Object> facts =
                        Files.readAttributes(visit.directory, "unix:uid,mode,ino", LinkOption.NOFOLLOW_LINKS);
                long owner = number(facts, "uid");
                boolean trusted =
                        visit.trusted && (owner == 0 || owner == user) && (number(facts, "mode") & OTHERS_WRITE) == 0;
                Group group = new Group(visit.names, visit.directory, number(facts, "ino"));
                if (visitor.visit(group, visit.trusted, trusted)) {
                    below(visit.directory).forEach(child -> visits.push(visit.child(child, trusted)));
                }
            } catch (IOException e) {
                if (visit.names.isEmpty() || (exists(visit.directory) && !(e instanceof AccessDeniedException))) {
                    throw e;
                }
                if (exists(visit.directory)) {
                    leftOut.accept("/" + String.join("/", visit.names));
                } // else the group was removed meanwhile
            }
        }
    }

    private static long number(Map<String, Object> facts, String name) {
        return ((Number) Objects.requireNonNull(facts.get(name))).longValue();
    }

    private record Visit(List<String> names, Path directory, boolean trusted) {
        Visit child(Path child, boolean trusted) {
            List<String> all = new ArrayList<>(names);
            all.add(String.valueOf(child.getFileName()));
            return new Visit(List.copyOf(all), child, trusted);
        }
    }

    /**
     * Whether a path is longer than PATH_MAX less the names of the files in a group: the kernel accepts no longer path.
     */
    private static boolean isTooLong(Path directory) {
        return directory.toString().length() > MAX_PATH;
    }

    private static boolean exists(Path directory) {
        return Files.exists(directory, LinkOption.NOFOLLOW_LINKS);
    }

    private static List<Path> below(Path directory) throws IOException {
        // kernfs counts directories (kernfs_refresh_inode); other file systems may say 1.
        if ((Integer) Files.getAttribute(directory, "unix:nlink", LinkOption.NOFOLLOW_LINKS) == 2) {
            return List.of();
        }
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> entries =
                Files.newDirectoryStream(directory, entry -> Files.isDirectory(entry, LinkOption.NOFOLLOW_LINKS))) {
            entries.forEach(children::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause(); // the group was removed meanwhile
        }
        return children;
    }

    /**
     * The processes of a group and of the groups below it, as this process's pid namespace numbers them; without those
     * that have no number there. Those of a group that is gone meanwhile are left out.
     *
     * @param leftOut receives the path of each group that this process may not read
     * @throws IOException if a group can't be read for another reason, or there are more than 65,536 groups below it
     */
    public Set<Integer> processes(Group group, Consumer<String> leftOut) throws IOException {
        Set<Integer> pids = new HashSet<>();
        Deque<Path> directories = new ArrayDeque<>(List.of(group.directory));
        int visited = 0;
        while (!directories.isEmpty()) {
            if (++visited > MAX_VISITED) {
                throw new TooMuchException(
                        "there are more than " + MAX_VISITED + " control groups below " + group.path());
            }
            Path directory = directories.pop();
            if (isTooLong(directory)) {
                leftOut.accept("/" + mount.relativize(directory));
                continue;
            }
            try {
                below(directory).forEach(directories::push);
                boolean _ = Lines.read(directory.resolve("cgroup.procs"), 16, MAX_PROCS_BYTES, (line, length) -> {
                    pids.add(Integer.parseInt(new String(line, 0, length, StandardCharsets.US_ASCII)));
                    return true;
                });
            } catch (IOException e) {
                if (exists(directory) && e instanceof AccessDeniedException) {
                    leftOut.accept("/" + mount.relativize(directory));
                } else if (exists(directory) && !isThreaded(directory)) {
                    throw e;
                } // else it was removed, or a group above lists its processes
            }
        }
        pids.remove(0); // a process of another pid namespace
        return pids;
    }

    /** The kernel refuses to list the processes of such a group. */
    private static boolean isThreaded(Path directory) throws IOException {
        try {
            return Files.readString(directory.resolve("cgroup.type")).equals("threaded\n");
        } catch (NoSuchFileException e) {
            return !exists(directory); // removed meanwhile, or the root
        }
    }
}
