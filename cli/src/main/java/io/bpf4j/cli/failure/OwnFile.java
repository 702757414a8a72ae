package io.bpf4j.cli.failure;

import io.bpf4j.sys.Host;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/**
 * Checks files that control what root does, so that only root and the user of this process may be able to change them.
 *
 * <p>Tested by {@code OwnFileTest} and {@code UserCatalogTest}.
 */
public final class OwnFile {
    /** S_IWGRP and S_IWOTH of inode(7). */
    private static final int OTHERS_WRITE = 022;

    /** S_IRGRP and S_IROTH of inode(7). */
    private static final int GROUP_READS = 040;

    private static final int OTHERS_READ = 04;

    /** S_ISVTX of inode(7): in such a directory, like /tmp, users can rename and remove only their own files. */
    private static final int STICKY = 01000;

    /** As many as the kernel follows (MAXSYMLINKS of include/linux/namei.h). */
    private static final int MAX_LINKS = 40;

    private OwnFile() {}

    /** The number of this process's user. */
    public static int user() throws IOException {
        return (Integer) Files.getAttribute(Host.running().self(), "unix:uid");
    }

    /**
     * The path without links of a file that no other user can change, and to which no other user can make the path lead:
     * who owns the folder of a link could have any file read that this process may read.
     *
     * @param user whose file it may be, besides root's
     * @param refused makes the exception if another user can; it gets the part of the path that allows it, in words
     */
    public static <E extends Exception> Path real(Path file, int user, Function<String, E> refused)
            throws IOException, E {
        Path real = file.toRealPath();
        Optional<String> other = whoElse(real, user);
        if (other.isEmpty()) {
            other = whoElseLeads(file, user);
        }
        if (other.isPresent()) {
            throw refused.apply(other.get());
        }
        return real;
    }

    /**
     * Which part of a path allows another user to change the file, or to put another one in its place; empty if none
     * does.
     *
     * @param real the path without links. A link that was made since then belongs to the user who made it
     * @param user whose file it may be, besides root's
     */
    static Optional<String> whoElse(Path real, int user) throws IOException {
        for (Path part = real; part != null; part = part.getParent()) {
            int owner = (Integer) Files.getAttribute(part, "unix:uid", LinkOption.NOFOLLOW_LINKS);
            int mode = (Integer) Files.getAttribute(part, "unix:mode", LinkOption.NOFOLLOW_LINKS);
            boolean othersChange = (mode & OTHERS_WRITE) != 0 && (part.equals(real) || (mode & STICKY) == 0);
            if ((owner != 0 && owner != user) || othersChange) {
                return Optional.of(part + (othersChange ? " can be written by others" : " belongs to user " + owner)
                        + "; bpf4j runs as user " + user);
            }
        }
        return Optional.empty();
    }

    /** Which link of a path another user can replace; empty if there is none. */
    private static Optional<String> whoElseLeads(Path file, int user) throws IOException {
        Path way = file.toAbsolutePath();
        for (int links = 0; links < MAX_LINKS; links++) {
            Path link = firstLink(way).orElse(null);
            if (link == null) {
                return Optional.empty();
            }
            Path folder = parent(link).toRealPath();
            Optional<String> other = whoElse(folder, user);
            if (other.isPresent()) {
                return Optional.of(link + " is a symbolic link, and " + other.get());
            }
            Path target = folder.resolve(Files.readSymbolicLink(link));
            int done = link.getNameCount();
            way = done == way.getNameCount() ? target : target.resolve(way.subpath(done, way.getNameCount()));
        }
        throw new FileSystemException(file.toString(), null, "too many symbolic links");
    }

    private static Optional<Path> firstLink(Path way) {
        Path part = way.getRoot();
        for (Path name : way) {
            part = part == null ? name : part.resolve(name);
            if (Files.isSymbolicLink(part)) {
                return Optional.of(part);
            }
        }
        return Optional.empty();
    }

    private static Path parent(Path link) {
        return Objects.requireNonNull(link.getParent(), "a link has a name");
    }

    /**
     * Who may read a file besides its owner; empty if nobody does. The group of root may: a file with an access control
     * list, as systemd's credentials have one, shows the list's mask in the place of the group's rights.
     *
     * @param real the path without links
     */
    public static Optional<String> whoElseReads(Path real) throws IOException {
        int group = (Integer) Files.getAttribute(real, "unix:gid", LinkOption.NOFOLLOW_LINKS);
        int mode = (Integer) Files.getAttribute(real, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        if ((mode & OTHERS_READ) != 0) {
            return Optional.of(real + " can be read by all; chmod 600 " + real);
        }
        return (mode & GROUP_READS) != 0 && group != 0
                ? Optional.of(real + " can be read by the group " + group + "; chmod 600 " + real)
                : Optional.empty();
    }

    /**
     * The bytes of a small file.
     *
     * @throws CommandException if it has more
     */
    public static byte[] bytes(Path real, int maxBytes) throws IOException {
        try (InputStream in = Files.newInputStream(real)) {
            byte[] bytes = in.readNBytes(maxBytes + 1);
            if (bytes.length > maxBytes) {
                throw new CommandException(real + ": larger than " + maxBytes + " bytes");
            }
            return bytes;
        }
    }
}
