package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.loader.host.Host;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * A file from the command line that is written: whole, or not at all. <i>Confined.</i>
 *
 * <p>The content goes to a new file, which then replaces the file of that name. bpf4j often runs as root, and an answer
 * has data of all processes. So bpf4j must not overwrite another file than the user meant, and the new file must not be
 * readable for more users than the replaced one:
 *
 * <ul>
 *   <li>A file of another user is refused, and so is a symbolic link that belongs neither to this user nor to root. In
 *       a directory that others can write to, they may have put it there to read the answer, or to have bpf4j overwrite
 *       a file that they may not write.
 *   <li>Other symbolic links are followed, and remain.
 *   <li>An existing file keeps its mode and its group. If this user may not set the group, the group loses its rights.
 *   <li>A new file has the rights that the umask leaves.
 * </ul>
 *
 * <p>A device such as {@code /dev/stdout} is written to, not replaced.
 *
 * <p>Tested by {@code OutputFileTest}.
 */
final class OutputFile {
    /** The start of the name of a file that is not complete yet. */
    private static final String PREFIX = ".bpf4j-";

    /** Linux follows this many links in a path. */
    private static final int MOST_LINKS = 40;

    private final Path named;
    private final int user;

    /** @param named the file as the user named it */
    OutputFile(Path named) {
        this(named, ownUser());
    }

    OutputFile(Path named, int user) {
        this.named = named;
        this.user = user;
    }

    /** Writes the content of a file. */
    interface Content {
        void to(Writer writer) throws IOException;
    }

    /** The entry of a directory; a link is not followed. */
    private record Entry(int mode, int user, int group) {
        private static final int TYPE = 0170000;
        private static final int LINK = 0120000;
        private static final int DIRECTORY = 0040000;
        private static final int REGULAR = 0100000;

        static @Nullable Entry of(Path path) throws IOException {
            try {
                Map<String, Object> all = Files.readAttributes(path, "unix:mode,uid,gid", LinkOption.NOFOLLOW_LINKS);
                return new Entry(number(all, "mode"), number(all, "uid"), number(all, "gid"));
            } catch (NoSuchFileException e) {
                return null;
            }
        }

        private static int number(Map<String, Object> all, String name) {
            return (Integer) Objects.requireNonNull(all.get(name));
        }

        boolean is(int type) {
            return (mode & TYPE) == type;
        }

        int rights() {
            return mode & 0777;
        }
    }

    /**
     * Checks whether the file can be written.
     *
     * @throws CommandException if not
     */
    void check() {
        if (isDevice()) {
            if (!Files.isWritable(named)) {
                throw refused("permission denied");
            }
            return;
        }
        try {
            Path file = destination();
            checkFolder(file);
            Entry inPlace = Entry.of(file);
            checkInPlace(file, inPlace);
            Path draft = draft(file);
            create(draft, inPlace).close();
            Files.delete(draft);
        } catch (IOException e) {
            throw refused(reason(e));
        }
    }

    /**
     * Writes the file.
     *
     * @throws CommandException if the file can't be written; an existing file is then unchanged
     */
    void write(Content content) {
        try {
            if (isDevice()) {
                try (Writer writer = Files.newBufferedWriter(named)) {
                    content.to(writer);
                }
                return;
            }
            Path file = destination();
            Entry inPlace = Entry.of(file);
            checkInPlace(file, inPlace);
            Path draft = draft(file);
            try {
                try (Writer writer = create(draft, inPlace)) {
                    content.to(writer);
                }
                Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(draft);
            }
        } catch (IOException e) {
            throw refused(reason(e));
        }
    }

    private boolean isDevice() {
        Path absolute = named.toAbsolutePath().normalize();
        return absolute.startsWith("/dev") && !absolute.startsWith("/dev/shm");
    }

    /**
     * The file that is written: the one at the end of the links.
     *
     * @throws CommandException if a link is refused
     */
    Path destination() throws IOException {
        Path file = named.toAbsolutePath();
        if (isDevice()) {
            return file;
        }
        for (int links = 0; links < MOST_LINKS; links++) {
            Entry entry = Entry.of(file);
            if (entry == null || !entry.is(Entry.LINK)) {
                return file;
            }
            Path target = Files.readSymbolicLink(file);
            if (entry.user() != user && entry.user() != 0) {
                throw refused((links == 0 ? "it" : file.toString()) + " is a symbolic link of another user, to "
                        + target + "; name the file itself");
            }
            file = folder(file).resolve(target);
        }
        throw refused("symbolic links lead in a circle");
    }

    private void checkInPlace(Path file, @Nullable Entry inPlace) {
        if (inPlace == null) {
            return;
        }
        if (!inPlace.is(Entry.REGULAR)) {
            throw refused(inPlace.is(Entry.DIRECTORY) ? "it is a directory" : "it is not a regular file");
        }
        if (inPlace.user() != user) {
            throw refused("the file belongs to another user; remove it first, or name another one");
        }
        if (!Files.isWritable(file)) {
            throw refused("permission denied");
        }
    }

    private void checkFolder(Path file) throws IOException {
        Path folder = folder(file);
        try {
            if (!Files.readAttributes(folder, BasicFileAttributes.class).isDirectory()) {
                throw refused(folder + " is not a directory");
            }
        } catch (NoSuchFileException e) {
            throw refused("there is no directory " + folder);
        }
    }

    /** An absolute path other than the root has a folder; the root is a directory, which is refused. */
    private static Path folder(Path file) {
        return Objects.requireNonNullElse(file.getParent(), file);
    }

    private static Path draft(Path file) {
        return folder(file)
                .resolve(PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    }

    /** Creates the new file. The content is written through its descriptor, so others may rename the file meanwhile. */
    private Writer create(Path draft, @Nullable Entry inPlace) throws IOException {
        FileAttribute<?> rights = PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString(inPlace == null ? "rw-rw-rw-" : "rw-------"));
        Writer writer;
        try {
            writer = new BufferedWriter(Channels.newWriter(
                    Files.newByteChannel(
                            draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), rights),
                    StandardCharsets.UTF_8));
        } catch (NoSuchFileException e) {
            // The directory exists, but users can't create files in it, as in /proc.
            throw refused("no file can be made in " + folder(draft));
        } catch (IOException e) {
            throw refused("no file can be made in " + folder(draft) + ": " + reason(e));
        }
        if (inPlace != null) {
            try {
                keepRights(draft, inPlace);
            } catch (IOException e) {
                writer.close();
                Files.deleteIfExists(draft);
                throw e;
            }
        }
        return writer;
    }

    private static void keepRights(Path draft, Entry inPlace) throws IOException {
        int rights = inPlace.rights();
        Entry made = Entry.of(draft);
        if (made == null || made.group() != inPlace.group()) {
            try {
                Files.setAttribute(draft, "unix:gid", inPlace.group(), LinkOption.NOFOLLOW_LINKS);
            } catch (IOException e) {
                rights &= ~0070;
            }
        }
        Files.setAttribute(draft, "unix:mode", rights, LinkOption.NOFOLLOW_LINKS);
    }

    private CommandException refused(String why) {
        return new CommandException("'" + named + "' can't be written: " + why);
    }

    /** The reason without the name of the file, which is that of the draft. */
    private static String reason(IOException failure) {
        return switch (failure) {
            case AccessDeniedException _ -> "permission denied";
            case NoSuchFileException _ -> "its directory is gone";
            case NotDirectoryException e -> e.getFile() + " is not a directory";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> String.valueOf(failure.getMessage());
        };
    }

    /** The user that owns created files: the last of the four ids, which proc(5) calls the file system UID. */
    private static int ownUser() {
        Path status = Host.running().self().resolve("status");
        try {
            String line = Files.readAllLines(status, StandardCharsets.ISO_8859_1).stream()
                    .filter(each -> each.startsWith("Uid:"))
                    .findFirst()
                    .orElseThrow(() -> new IOException("it has no line Uid:"));
            return Integer.parseUnsignedInt(
                    line.substring(line.lastIndexOf('\t') + 1).strip());
        } catch (IOException e) {
            throw new CommandException("the user of this process is not known: " + status + ": " + reason(e), e);
        }
    }
}
