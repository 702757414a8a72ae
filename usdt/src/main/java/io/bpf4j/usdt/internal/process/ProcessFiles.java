package io.bpf4j.usdt.internal.process;

import io.bpf4j.loader.error.ProcessRights;
import io.bpf4j.loader.kernel.Capability;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds the files that a process runs, and for each a path that leads to the very same file from here.
 *
 * <p>The path in {@code /proc/PID/maps} is the process's own: in a container it means nothing here, or worse, another
 * file; and a file that was replaced while the process runs (an upgrade) has lost its name. So each candidate has to have
 * the inode that the mapping has. In this order:
 *
 * <ol>
 *   <li>the plain path, which reads best in messages
 *   <li>{@code /proc/PID/root/PATH}: the same path in the process's mount namespace
 *   <li>{@code /proc/PID/map_files/START-END}: the mapped file itself, deleted or not; needs CAP_CHECKPOINT_RESTORE or
 *       CAP_SYS_ADMIN. memfd files are found here, too
 *   <li>{@code /proc/PID/fd/N}, if the process still has it open
 *   <li>the second again, by inode number alone: overlay and btrfs file systems report another device in maps than in
 *       stat, and the way by map_files may be forbidden
 * </ol>
 */
public final class ProcessFiles {
    private final Path proc;

    /** Reads below this directory: {@code /proc}, or a fixture. */
    public ProcessFiles(Path proc) {
        this.proc = proc;
    }

    /**
     * All files that a process has mapped executable, each once, in the order of their addresses.
     *
     * @throws IOException if there is no such process or its mappings can't be read; the message says so
     */
    public List<MappedFile> executableFiles(int pid) throws IOException {
        Set<String> seen = new HashSet<>();
        return mappings(pid).stream()
                .filter(m -> m.executable() && m.isFile() && seen.add(m.device() + " " + m.inode()))
                .map(m -> locate(pid, m))
                .toList();
    }

    /** All mappings of a process. */
    public List<Mapping> mappings(int pid) throws IOException {
        Path maps = proc.resolve(pid + "/maps");
        try {
            return MapsFile.parse(new String(Files.readAllBytes(maps), StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            throw new IOException("no process " + pid, e);
        } catch (AccessDeniedException e) {
            throw new IOException("no permission to read " + maps + ": " + whyRefused(Capability.CAP_SYS_PTRACE), e);
        } catch (IOException e) {
            // A process that ends while it is read: ESRCH.
            throw new IOException("can't read " + maps + ": " + e.getMessage(), e);
        }
    }

    /** Whether a process is there and has not ended: a zombie waits for its parent only. */
    boolean isRunning(int pid) {
        try {
            String stat = Files.readString(proc.resolve(pid + "/stat"));
            String state = stat.substring(stat.lastIndexOf(')') + 1).strip();
            return !state.isEmpty() && state.charAt(0) != 'Z' && state.charAt(0) != 'X';
        } catch (IOException e) {
            return false;
        }
    }

    /** A path that leads to the file of a mapping from here. */
    MappedFile locate(int pid, Mapping mapping) {
        Path directory = proc.resolve(Integer.toString(pid));
        Path plain = Path.of(mapping.path());
        Path inRoot = Path.of(directory + "/root" + mapping.path());
        Path mapFile = directory.resolve(
                "map_files/" + Long.toHexString(mapping.start()) + "-" + Long.toHexString(mapping.end()));
        Path found = null;
        if (!mapping.deleted() && isSame(plain, mapping, true)) {
            found = plain;
        } else if (!mapping.deleted() && isSame(inRoot, mapping, true)) {
            found = inRoot;
        } else if (isReadableFile(mapFile)) {
            found = mapFile;
        } else {
            found = openFile(directory, mapping);
            if (found == null && !mapping.deleted() && isSame(inRoot, mapping, false)) {
                found = inRoot;
            }
        }
        if (found != null) {
            return new MappedFile(mapping.path(), found, "");
        }
        String why = mapping.deleted() ? "deleted or replaced" : "another file has this name now";
        return new MappedFile(
                mapping.path(),
                null,
                why + ", and " + mapFile + " can't be opened: " + whyRefused(Capability.CAP_CHECKPOINT_RESTORE));
    }

    private static String whyRefused(Capability needed) {
        return ProcessRights.current().whyRefused(List.of(needed));
    }

    private static @Nullable Path openFile(Path directory, Mapping mapping) {
        try (DirectoryStream<Path> fds = Files.newDirectoryStream(directory.resolve("fd"))) {
            for (Path fd : fds) {
                if (isSame(fd, mapping, true)) {
                    return fd;
                }
            }
            return null;
        } catch (IOException | RuntimeException e) {
            return null;
        }
    }

    private static boolean isSame(Path path, Mapping mapping, boolean alsoDevice) {
        try {
            Map<String, Object> attributes = Files.readAttributes(path, "unix:dev,ino");
            return attributes.get("ino") instanceof Long inode
                    && attributes.get("dev") instanceof Long device
                    && inode == mapping.inode()
                    && (!alsoDevice || deviceName(device).equals(mapping.device()))
                    && Files.isRegularFile(path);
        } catch (IOException | RuntimeException e) {
            return false;
        }
    }

    /** The link exists for whoever may list it; following it takes the capability. */
    private static boolean isReadableFile(Path path) {
        return Files.exists(path, LinkOption.NOFOLLOW_LINKS) && Files.isRegularFile(path) && Files.isReadable(path);
    }

    /** {@code st_dev} as maps prints it; the encoding is that of gnu_dev_major and gnu_dev_minor in glibc. */
    static String deviceName(long device) {
        long major = (device >>> 8 & 0xfff) | (device >>> 32 & ~0xfffL);
        long minor = (device & 0xff) | (device >>> 12 & ~0xffL);
        return String.format("%02x:%02x", major, minor & 0xffffffffL);
    }
}
