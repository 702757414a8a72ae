package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.usdt.UsdtBinary;
import io.bpf4j.usdt.UsdtProbe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files that a question is attached to by their paths, in all processes. A probe belongs to an inode: when an upgrade
 * renames another file over the path, or switches a link, processes that start afterwards run a file that nothing is
 * attached to. <i>Thread-safe</i>; checks are made by one thread at a time.
 *
 * <p>A check never opens a file, because the owner of its directory may have put anything there. A path that leads to
 * no file, or to a directory or a FIFO, is not a replacement: it can't be executed, and processes that run already are
 * traced.
 *
 * <p>Tested by {@code NamedFilesTest}.
 */
final class NamedFiles {
    /** The maximum number of files that are named: a question about all processes has files of any user. */
    private static final int MAX_NAMED = 10;

    private final Supplier<Instant> clock;

    /** The files by those who attached to them. */
    private final Map<Object, Set<Named>> named = new LinkedHashMap<>();

    private final Map<Path, Replacement> replaced = new LinkedHashMap<>();

    /** The files that the last check found at paths, other than the files that are attached to there. */
    private final Map<Path, FileIdentity> others = new LinkedHashMap<>();

    /** The files whose identity a check could not read: which file was there meanwhile can't be found out later. */
    private final Map<Path, Diagnostic> unread = new LinkedHashMap<>();

    /**
     * A file.
     *
     * @param path the path that the kernel has opened
     * @param identity the identity of the file that is attached to
     */
    record Named(Path path, FileIdentity identity) {}

    /**
     * What happened to a path.
     *
     * @param written whether the file was written in its place
     * @param now the last other file that was found there
     * @param seen when it, or the first of several that were not attached to, was found
     * @param times how often something was found to be attached to again
     * @param attached when it was attached to; empty if it was not
     */
    private record Replacement(boolean written, FileIdentity now, Instant seen, int times, Optional<Instant> attached) {
        Replacement by(boolean inPlace, FileIdentity other, Instant time) {
            return attached.isPresent()
                    ? new Replacement(inPlace, other, time, times + 1, Optional.empty())
                    : new Replacement(written, other, seen, times, attached);
        }

        Replacement attachedAt(Optional<Instant> time) {
            return new Replacement(written, now, seen, times, time);
        }

        Diagnostic gap(Path path) {
            String when = (times == 1 ? "" : times + " times, last ") + "at about " + seen;
            return NamedFiles.gap(
                    path,
                    written
                            ? path + " was written " + when
                                    + ": its probes are attached where they were before, and processes that have"
                                    + " started since may run other code"
                            : path + " was replaced " + when
                                    + (attached.isPresent()
                                            ? ", and the new file was attached to at about " + attached.get()
                                                    + ": events in between are missing"
                                            : ": processes that have started since run another file, which nothing is"
                                                    + " attached to"));
        }
    }

    NamedFiles() {
        this(Instant::now);
    }

    NamedFiles(Supplier<Instant> clock) {
        this.clock = clock;
    }

    /**
     * The files of probes. Without those that were found through a process, such as a deleted file or one of another
     * mount namespace: their paths end with the process.
     */
    static Set<Named> of(List<UsdtProbe> probes) {
        return probes.stream()
                .map(UsdtProbe::binary)
                .distinct()
                .filter(NamedFiles::isNamed)
                .map(file -> new Named(file.path(), file.identity()))
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** The name of a library in an archive begins with the path, which is that of the archive. */
    private static boolean isNamed(UsdtBinary file) {
        return file.name().startsWith(file.path().toString());
    }

    /** The files of functions. To be called before they are attached to: some are only then looked up in their file. */
    static Set<Named> ofFunctions(Collection<FunctionProbe> functions) {
        Set<Named> files = new LinkedHashSet<>();
        Set<Path> byName = new LinkedHashSet<>();
        for (FunctionProbe function : functions) {
            Optional<FunctionProbeData.Start> place = ((FunctionProbeData) function).start();
            if (place.isPresent()) {
                files.add(new Named(place.get().file(), place.get().identity()));
            } else {
                byName.add(function.file());
            }
        }
        for (Path file : byName) {
            try {
                files.add(new Named(file, FileIdentity.of(file)));
            } catch (IOException e) {
                // Attaching fails, and reports that.
            }
        }
        return files;
    }

    /**
     * Watches files from now on. A path may lead to one of several, which were there one after the other.
     *
     * @param owner whose {@link #forget} ends that
     */
    synchronized void watch(Object owner, Set<Named> files) {
        for (Named file : files) {
            if (!isWatched(file.path(), file.identity())) {
                replaced.computeIfPresent(
                        file.path(), (_, known) -> known.written() ? known : known.attachedAt(Optional.of(now())));
            }
        }
        named.computeIfAbsent(owner, _ -> new LinkedHashSet<>()).addAll(files);
    }

    /** The paths that lead to a file which nothing is attached to, as of the last check. */
    synchronized Set<Path> replaced() {
        return others.entrySet().stream()
                .filter(other -> !isWatched(other.getKey(), other.getValue()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private boolean isWatched(Path path, FileIdentity identity) {
        Named file = new Named(path, identity);
        return named.values().stream().anyMatch(files -> files.contains(file));
    }

    /** Whether there is anything to check. */
    synchronized boolean isEmpty() {
        return named.values().stream().allMatch(Set::isEmpty);
    }

    synchronized boolean has(Object owner) {
        return named.containsKey(owner);
    }

    /** Ends the watch of these files; what was found stays. */
    synchronized void forget(Object owner) {
        Set<Named> files = named.remove(owner);
        if (files == null) {
            return;
        }
        for (Named file : files) {
            if (!isWatched(file.path(), file.identity())) {
                replaced.computeIfPresent(
                        file.path(),
                        (_, known) -> known.now().equals(file.identity()) ? known.attachedAt(Optional.empty()) : known);
            }
        }
    }

    /** Compares the files of each path with the one that is there now. */
    void look() {
        Map<Path, Set<FileIdentity>> all = new LinkedHashMap<>();
        synchronized (this) {
            named.values().stream()
                    .flatMap(Set::stream)
                    .forEach(file -> all.computeIfAbsent(file.path(), _ -> new LinkedHashSet<>())
                            .add(file.identity()));
        }
        all.forEach((path, attached) -> {
            // Not under the lock, because a file system may take any time.
            Optional<FileIdentity> other = Optional.empty();
            Optional<String> why = Optional.empty();
            try {
                other = Optional.of(FileIdentity.of(path))
                        .filter(found -> !attached.contains(found) && Files.isRegularFile(path));
            } catch (NoSuchFileException e) {
                // No file can be executed by this path.
            } catch (IOException e) {
                why = Optional.of(String.valueOf(e.getMessage()));
            }
            seen(path, attached, other, why);
        });
    }

    private synchronized void seen(
            Path path, Set<FileIdentity> attached, Optional<FileIdentity> other, Optional<String> unreadable) {
        others.remove(path);
        // Another thread may have attached to it meanwhile.
        other.filter(found -> !isWatched(path, found)).ifPresent(found -> {
            // The number is not that of a new file: the kernel keeps the inode of a file while a probe is attached to
            // it.
            boolean inPlace = attached.stream()
                    .anyMatch(before -> before.device() == found.device() && before.inode() == found.inode());
            Replacement known = replaced.get(path);
            replaced.put(
                    path,
                    known == null
                            ? new Replacement(inPlace, found, now(), 1, Optional.empty())
                            : known.now().equals(found) ? known : known.by(inPlace, found, now()));
            if (!inPlace) {
                others.put(path, found);
            }
        });
        unreadable.ifPresent(why -> unread.computeIfAbsent(
                path,
                _ -> gap(path, "whether " + path + " was replaced could not be seen at about " + now() + ": " + why)));
    }

    private Instant now() {
        return clock.get().truncatedTo(ChronoUnit.SECONDS);
    }

    private static Diagnostic gap(Path path, String message) {
        return new Diagnostic(Kind.NOT_ATTACHED, path.toString(), message);
    }

    /**
     * Why events may be missing: one reason for each path, from when another file was first seen there.
     *
     * @param unanswered why the last check was not made; empty if it was
     */
    synchronized List<Diagnostic> gaps(Optional<String> unanswered) {
        List<Diagnostic> gaps = new ArrayList<>();
        Stream.concat(
                        replaced.entrySet().stream()
                                .map(change -> change.getValue().gap(change.getKey())),
                        unread.values().stream())
                .limit(MAX_NAMED)
                .forEach(gaps::add);
        if (replaced.size() + unread.size() > MAX_NAMED) {
            gaps.add(new Diagnostic(Kind.NOT_ATTACHED, "", "the same happened to further files"));
        }
        if (!isEmpty()) {
            unanswered.ifPresent(why -> gaps.add(new Diagnostic(
                    Kind.NOT_ATTACHED, "", "whether the traced files were replaced can't be seen: " + why)));
        }
        return gaps;
    }
}
