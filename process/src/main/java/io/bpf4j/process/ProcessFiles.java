package io.bpf4j.process;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.loader.link.OpenFile;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Capability;
import io.bpf4j.sys.internal.call.ProcessRights;
import io.bpf4j.sys.internal.proc.Lines;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Finds the files that a process runs, and opens exactly these files.
 *
 * <p>The path in {@code /proc/PID/maps} is valid in the mount namespace of the process: outside of a container it may
 * not exist or be another file; a file that was replaced while the process runs (an upgrade) has no name any more; and
 * the owner of the process may make a link with this name point elsewhere at any time. So each candidate is opened, and
 * the open file must have the device and the inode of the mapping. In this order:
 *
 * <ol>
 *   <li>the plain path, which is the most readable one in messages
 *   <li>{@code /proc/PID/root/PATH}: the same path in the process's mount namespace
 *   <li>{@code /proc/PID/map_files/START-END}: the mapped file itself, deleted or not; needs CAP_CHECKPOINT_RESTORE or
 *       CAP_SYS_ADMIN. memfd files are found here, too
 *   <li>{@code /proc/PID/fd/N}, if map_files are forbidden and the process still has the file open
 *   <li>the second again, by inode number alone, if its mount has a file system that shows another device in maps than
 *       in stat ({@link Devices}); map_files may be forbidden
 * </ol>
 */
public final class ProcessFiles {
    private static final int CHUNK = 1 << 13;

    private final Host host;
    private final Path proc;

    public ProcessFiles(Host host) {
        this.host = host;
        this.proc = host.proc();
    }

    /** The path of {@code /proc}. */
    public Path proc() {
        return proc;
    }

    /**
     * An open mapped file; the caller must close it.
     *
     * @param path the path by which it was found, for opening it again later
     */
    public record Opened(Path path, OpenFile file) implements AutoCloseable {
        @Override
        public void close() {
            file.close();
        }
    }

    /**
     * All files that a process has mapped executable, each once, in the order of their addresses.
     *
     * @throws IOException if the process does not exist, or its mappings can't be read or are too many; the message
     *     says so
     */
    public List<MappedFile> executableFiles(int pid) throws IOException {
        try (CodeSearch search = search(pid, OptionalLong.empty())) {
            while (search.step()) {
                // to the end
            }
            return search.files();
        }
    }

    /**
     * The same search in steps.
     *
     * @param address the address of {@link CodeSearch#atAddress}
     */
    CodeSearch search(int pid, OptionalLong address) {
        return new CodeSearch(this, pid, address);
    }

    /**
     * The mappings of a process that satisfy the predicate, in the order of their addresses.
     *
     * @throws TooMuchException if the process has too many mappings, or the names of their files are too long together
     * @throws IOException as {@link #executableFiles}
     */
    public List<MappedRange> mappings(int pid, Predicate<MappedRange> wanted) throws IOException {
        MappingList mappings = new MappingList(pid);
        byte[] chunk = new byte[CHUNK];
        try (Lines maps = openMaps(pid)) {
            boolean more = true;
            while (more) {
                more = maps.step(chunk, (line, length) -> {
                    Optional<MappedRange> mapping = MapsLine.parse(line, length).filter(wanted);
                    if (mapping.isPresent()) {
                        mappings.add(mapping.get());
                    }
                    return true;
                });
            }
            if (maps.isTooLong()) {
                throw tooManyMappings(pid);
            }
        } catch (IOException e) {
            throw explained(pid, e);
        }
        return mappings.list;
    }

    /**
     * Mappings, of which neighbours of one file share its name: a process may map a file with a name of 4,096 bytes
     * thousands of times.
     */
    private static final class MappingList {
        private final int pid;
        private final List<MappedRange> list = new ArrayList<>();
        private long nameBytes;

        MappingList(int pid) {
            this.pid = pid;
        }

        void add(MappedRange mapping) throws TooMuchException {
            if (!list.isEmpty() && list.getLast().text().equals(mapping.text())) {
                list.add(mapping.withText(list.getLast().text()));
                return;
            }
            nameBytes += mapping.text().length();
            if (nameBytes > ProcessLimits.MAX_ALL_NAMES_BYTES) {
                throw new TooMuchException(
                        "process " + pid + " is left out: the names of the files that it has mapped have"
                                + " more than " + ProcessLimits.MAX_ALL_NAMES_BYTES + " bytes");
            }
            list.add(mapping);
        }
    }

    private Path maps(int pid) {
        return proc.resolve(pid + "/maps");
    }

    Lines openMaps(int pid) throws IOException {
        return new Lines(maps(pid), MapsLine.MAX_BYTES, ProcessLimits.MAX_MAPS_BYTES);
    }

    TooMuchException tooManyMappings(int pid) {
        return new TooMuchException("process " + pid + " is left out: " + maps(pid) + " has more than "
                + ProcessLimits.MAX_MAPS_BYTES + " bytes");
    }

    /** Why the mappings of a process can't be read. */
    IOException explained(int pid, IOException e) {
        return switch (e) {
            case TooMuchException tooMuch -> tooMuch;
            case NoSuchFileException _ -> new IOException("no process " + pid, e);
            case AccessDeniedException _ ->
                new IOException("no permission to read " + maps(pid) + ": " + whyRefused(Capability.CAP_SYS_PTRACE), e);
            // ESRCH: the process ended while it was read.
            default -> new IOException("can't read " + maps(pid) + ": " + e.getMessage(), e);
        };
    }

    /**
     * Opens the file of a mapping.
     *
     * @throws IOException if it can't be opened; the message has the reason, without the name
     */
    public Opened open(MappedFile file) throws IOException {
        MappedRange mapping = file.mapping();
        Path directory = proc.resolve(Integer.toString(file.pid()));
        Path root = directory.resolve("root");
        String name = file.name();
        Opened opened = null;
        for (FileName candidate : mapping.names()) {
            opened = opened != null ? opened : openSame(candidate.path(), name, mapping);
            opened = opened != null ? opened : openSame(candidate.below(root), name, mapping);
        }
        if (opened != null) {
            return opened;
        }
        Path mapFiles = directory.resolve("map_files");
        Path mapFile = mapFiles.resolve(hex(mapping.start()) + "-" + hex(mapping.end()));
        try {
            // No comparison is needed: this is the mapped file itself.
            return new Opened(mapFile, OpenFile.open(host, mapFile, name));
        } catch (SyscallException e) {
            if (isForbidden(e, mapFiles)) {
                opened = openDescriptor(directory.resolve("fd"), name, mapping);
                for (FileName candidate : mapping.names()) {
                    opened = opened != null ? opened : openOnMount(candidate.below(root), name, file);
                }
                if (opened != null) {
                    return opened;
                }
            }
            throw new IOException(
                    (mapping.deleted() ? "deleted or replaced" : "another file has this name now, or it can't be read")
                            + ", and " + mapFile + " can't be opened: " + why(e),
                    e);
        }
    }

    /**
     * Whether this process may not use map_files, or the kernel has none, so that the other ways are worth trying.
     * Searching thousands of descriptors for each of thousands of files takes minutes, and a process can make opening
     * its files fail, by unmapping them or by a lease (F_SETLEASE of fcntl(2)).
     */
    private static boolean isForbidden(SyscallException refused, Path mapFiles) {
        return switch (refused.errno()) {
            case EPERM, EACCES -> true;
            default -> Files.notExists(mapFiles);
        };
    }

    private String why(SyscallException e) {
        return switch (e.errno()) {
            case EPERM, EACCES -> whyRefused(Capability.CAP_CHECKPOINT_RESTORE);
            case ENOENT -> "it is not mapped there any more";
            case EAGAIN -> "another process holds a lease on it (F_SETLEASE of fcntl(2))";
            default -> String.valueOf(e.getMessage());
        };
    }

    private String whyRefused(Capability needed) {
        return ProcessRights.of(host).whyRefused(List.of(needed));
    }

    private static String hex(long address) {
        return Long.toHexString(address);
    }

    private @Nullable Opened openDescriptor(Path directory, String name, MappedRange mapping) {
        try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(directory)) {
            int left = ProcessLimits.MAX_DESCRIPTORS;
            for (Path descriptor : descriptors) {
                Opened opened = openSame(descriptor, name, mapping);
                if (opened != null || --left == 0) {
                    return opened;
                }
            }
        } catch (IOException | RuntimeException e) {
            // The descriptors can't be listed, because this process may not, or because the other one has ended.
        }
        return null;
    }

    private @Nullable Opened openSame(Path path, String name, MappedRange mapping) {
        return check(
                open(path, name),
                opened -> opened.identity().inode() == mapping.inode()
                        && opened.identity().device() == mapping.device());
    }

    private @Nullable Opened openOnMount(Path path, String name, MappedFile file) {
        return check(
                open(path, name),
                opened -> opened.identity().inode() == file.mapping().inode()
                        && isShownAs(opened, file.pid(), file.mapping().device()));
    }

    private boolean isShownAs(OpenFile opened, int pid, long device) {
        try {
            return Devices.mayShow(host, pid, opened.descriptor(), device);
        } catch (IOException e) {
            return false;
        }
    }

    private static @Nullable Opened check(@Nullable Opened opened, Predicate<OpenFile> same) {
        if (opened == null || same.test(opened.file())) {
            return opened;
        }
        opened.close();
        return null;
    }

    private @Nullable Opened open(Path path, String name) {
        try {
            return new Opened(path, OpenFile.open(host, path, name));
        } catch (SyscallException e) {
            return null;
        }
    }
}
