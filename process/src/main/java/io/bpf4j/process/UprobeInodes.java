package io.bpf4j.process;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Which files share the breakpoints of uprobes.
 *
 * <p>The kernel places a breakpoint at an inode. A file on overlay has two: its own, which stat(2) shows, and that of
 * the layer that contains it, at which the breakpoint is placed (d_real_inode() of kernel/events/uprobes.c and
 * kernel/trace/bpf_trace.c). So a file of a container image is another file in each container, and yet an attachment
 * through one container fires in all of them. Two attachments report each event twice.
 *
 * <p>The kernel does not show the second inode. But overlay takes over its number, its size and its times
 * (Documentation/filesystems/overlayfs.rst, "Inode properties"). Once a container has changed the file, it has a copy,
 * with the same number, but another time of the last status change. Other file systems may have files that look the
 * same and are two inodes, such as snapshots of btrfs: they share nothing.
 *
 * <p>Tested by {@code UsdtProcessesTest}.
 */
public final class UprobeInodes {
    private UprobeInodes() {}

    /** The properties that the files of one inode share. */
    private record Shown(long inode, long size, long modifiedNanos) {
        static Shown of(FileIdentity file) {
            return new Shown(file.inode(), file.size(), file.modifiedNanos());
        }
    }

    /** A file that may share its breakpoints with another one. */
    private record Candidate(FileIdentity identity, boolean onOverlay, Object changed) {
        /** Empty if the file is gone: attaching to it reports that. */
        static Optional<Candidate> of(Host host, FileIdentity identity, Path path) {
            try (OpenFile opened = OpenFile.open(host, path, path.toString())) {
                return opened.identity().equals(identity)
                        ? Optional.of(new Candidate(
                                identity, opened.isOnOverlay(), Files.getAttribute(opened.path(), "unix:ctime")))
                        : Optional.empty();
            } catch (SyscallException | IOException e) {
                return Optional.empty();
            }
        }

        boolean sharesWith(Candidate other) {
            return (onOverlay || other.onOverlay) && changed.equals(other.changed);
        }
    }

    /**
     * For each file that shares its breakpoints with an earlier one: the first of these.
     *
     * @param files paths by which they are opened, by their identities; in order
     */
    public static Map<FileIdentity, FileIdentity> shared(Host host, Map<FileIdentity, Path> files) {
        Map<Shown, List<FileIdentity>> alike = new LinkedHashMap<>();
        files.keySet()
                .forEach(file -> alike.computeIfAbsent(Shown.of(file), _ -> new ArrayList<>())
                        .add(file));
        Map<FileIdentity, FileIdentity> shared = new HashMap<>();
        for (List<FileIdentity> some : alike.values()) {
            if (some.size() == 1) {
                continue; // the usual case, which costs no system call
            }
            List<Candidate> firsts = new ArrayList<>();
            some.stream()
                    .flatMap(file -> Candidate.of(host, file, files.getOrDefault(file, Path.of(""))).stream())
                    .forEach(candidate -> firsts.stream()
                            .filter(candidate::sharesWith)
                            .findFirst()
                            .ifPresentOrElse(
                                    first -> shared.put(candidate.identity(), first.identity()),
                                    () -> firsts.add(candidate)));
        }
        return shared;
    }
}
