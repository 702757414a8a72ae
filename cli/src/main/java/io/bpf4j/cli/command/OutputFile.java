package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.process.Descriptors;
import io.bpf4j.process.peer.HeldFolder;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.proc.StatusFile;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.Writer;
import java.nio.channels.Channels;
import java.nio.charset.Charset;
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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file from the command line that is written completely, or not at all. <i>Confined.</i>
 *
 * <p>The content goes to a new file, which then replaces the file of that name. bpf4j often runs as root, and an answer
 * has data of all processes. So bpf4j must overwrite only the file that the user named, and the new file must not be
 * readable for more users than the replaced one:
 *
 * <ul>
 *   <li>A file of another user is refused, and so is a symbolic link anywhere in the path that belongs neither to this
 *       user nor to root, or that lies where another user could have put it. In a directory that others can write to,
 *       they may have put it there to read the answer, or to have bpf4j overwrite a file that they may not write.
 *   <li>Other symbolic links are followed, and remain. The path is walked once, and the directory is held open: a later
 *       change of the path by others has no effect.
 *   <li>An existing file keeps its mode and its group. If this user may not set the group, the group loses its rights.
 *   <li>A new file has the rights that the umask leaves.
 * </ul>
 *
 * <p>A device such as {@code /dev/stdout} is written to, not replaced, and so is an inherited pipe, such as {@code
 * /dev/fd/63} of a shell for {@code >(cat)}. Other descriptors are refused: they are files of bpf4j and the JVM.
 *
 * <p>Tested by {@code OutputFileTest}.
 */
final class OutputFile {
    /** The start of the name of a file that is not complete yet. */
    private static final String PREFIX = ".bpf4j-";

    /** Names of descriptors of this process. */
    private static final Pattern DESCRIPTOR = Pattern.compile("/dev/(?<name>stdout|stderr)"
            + "|(/dev/fd|/proc/(self|thread-self|" + ProcessHandle.current().pid() + ")(/task/\\d+)?/fd)"
            + "/(?<number>\\d{1,9})");

    /** Linux follows this many links in a path. */
    private static final int MAX_LINKS = 40;

    private final Path named;
    private final int user;

    /** The new file, until it has the name. */
    private volatile @Nullable Path unfinished;

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
     * The directory entry of the file.
     *
     * @param folder held open; the caller closes it
     * @param path through the folder
     * @param shown for messages
     */
    private record DirectoryEntry(HeldFolder folder, Path path, Path shown) implements AutoCloseable {
        @Override
        public void close() {
            folder.close();
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
        try (DirectoryEntry entry = entry()) {
            Entry existing = Entry.of(entry.path());
            checkExisting(entry.path(), existing);
            Path draft = draft(entry);
            create(draft, entry, existing, StandardCharsets.UTF_8).close();
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
        write(content, StandardCharsets.UTF_8);
    }

    /** The same for bytes that are not text. */
    void write(byte[] bytes) {
        // In this encoding each byte is a character.
        String content = new String(bytes, StandardCharsets.ISO_8859_1);
        write(writer -> writer.write(content), StandardCharsets.ISO_8859_1);
    }

    private void write(Content content, Charset charset) {
        try {
            if (isDevice()) {
                try (Writer writer = Files.newBufferedWriter(named, charset)) {
                    content.to(writer);
                }
                return;
            }
            try (DirectoryEntry entry = entry()) {
                Entry existing = Entry.of(entry.path());
                checkExisting(entry.path(), existing);
                Path draft = draft(entry);
                unfinished = draft;
                try {
                    try (Writer writer = create(draft, entry, existing, charset)) {
                        content.to(writer);
                    }
                    Files.move(draft, entry.path(), StandardCopyOption.ATOMIC_MOVE);
                } finally {
                    unfinished = null;
                    Files.deleteIfExists(draft);
                }
            }
        } catch (IOException e) {
            throw refused(reason(e));
        }
    }

    /** Removes the new file if it is not complete; for another thread, before the process ends. */
    void abandon() {
        Path draft = unfinished;
        if (draft != null) {
            try {
                Files.deleteIfExists(draft);
            } catch (IOException e) {
                // The process is ending, and a message would not be read.
            }
        }
    }

    /** Whether the name stands for a device or pipe, which is written to instead of being replaced. */
    private boolean isDevice() {
        Path absolute = named.toAbsolutePath().normalize();
        Optional<Integer> descriptor = descriptor(absolute);
        if (descriptor.isPresent()) {
            checkDescriptor(descriptor.get());
            return true;
        }
        try {
            return absolute.startsWith("/dev")
                    && !Files.readAttributes(absolute, BasicFileAttributes.class)
                            .isRegularFile();
        } catch (IOException e) {
            return false; // a file that does not exist yet
        }
    }

    /** The number of a descriptor of this process that a name stands for. */
    private static Optional<Integer> descriptor(Path absolute) {
        Matcher matcher = DESCRIPTOR.matcher(absolute.toString());
        if (!matcher.matches()) {
            return Optional.empty();
        }
        if (matcher.group("name") != null) {
            return Optional.of(matcher.group("name").equals("stdout") ? 1 : 2);
        }
        return Optional.of(Integer.parseInt(matcher.group("number")));
    }

    /** Standard output and error are always accepted; of the other descriptors only an inherited pipe. */
    private void checkDescriptor(int number) {
        if (number == 1 || number == 2) {
            return;
        }
        try {
            if (Descriptors.isInheritedPipe(Host.running(), number)) {
                return;
            }
        } catch (IOException e) {
            throw new CommandException("'" + named + "' can't be written: there is no descriptor " + number, e);
        }
        throw refused("descriptor " + number + " is not a pipe that this process inherited; name the file itself");
    }

    /**
     * Walks to the directory of the file, over the links that may be followed.
     *
     * @throws CommandException if a link is refused, or there is no such directory
     */
    private DirectoryEntry entry() throws IOException {
        if (named.toString().isEmpty()) {
            throw new CommandException("the name of the file to write is empty");
        }
        Deque<Path> names = new ArrayDeque<>();
        named.toAbsolutePath().forEach(names::add);
        if (names.isEmpty()) {
            throw refused("it is a directory");
        }
        Path shown = Path.of("/");
        HeldFolder folder = HeldFolder.root(Host.running());
        try {
            for (int links = 0; ; ) {
                Path name = names.removeFirst();
                Path next = shown.resolve(name);
                Path held = folder.path().resolve(name);
                Entry entry = name.toString().equals("..") ? null : Entry.of(held);
                if (entry != null && entry.is(Entry.LINK)) {
                    Path target = followed(next, held, entry, folder);
                    if (++links > MAX_LINKS) {
                        throw refused("symbolic links form a loop");
                    }
                    List<Path> parts = new ArrayList<>();
                    target.forEach(parts::add);
                    parts.reversed().forEach(names::addFirst);
                    if (target.isAbsolute()) {
                        folder.close();
                        folder = HeldFolder.root(Host.running());
                        shown = Path.of("/");
                    }
                } else if (names.isEmpty()) {
                    return new DirectoryEntry(folder, held, next);
                } else {
                    HeldFolder outer = folder;
                    folder = enter(outer, name, next);
                    outer.close();
                    shown = next.normalize();
                }
            }
        } catch (IOException | RuntimeException e) {
            folder.close();
            throw e;
        }
    }

    private Path followed(Path link, Path held, Entry entry, HeldFolder folder) throws IOException {
        Path target = Files.readSymbolicLink(held);
        String subject = link.equals(named.toAbsolutePath()) ? "it" : link.toString();
        if (entry.user() != user && entry.user() != 0) {
            throw refused(subject + " is a symbolic link of another user, to " + target + "; name the file itself");
        }
        if (!folder.isSafeFor(user)) {
            throw refused(
                    subject + " is a symbolic link in a directory where another user could replace it; name the file"
                            + " itself");
        }
        return target;
    }

    private HeldFolder enter(HeldFolder folder, Path name, Path shown) {
        try {
            return folder.folder(name).orElseThrow(() -> refused(shown + " is not a directory"));
        } catch (SyscallException e) {
            throw switch (e.errno()) {
                case ENOENT -> refused("there is no directory " + shown);
                case EACCES -> refused("permission denied");
                default -> refused(String.valueOf(e.getMessage()));
            };
        }
    }

    /**
     * The file that is written: the one at the end of the links.
     *
     * @throws CommandException if a link is refused
     */
    Path destination() throws IOException {
        if (isDevice()) {
            return named.toAbsolutePath();
        }
        try (DirectoryEntry entry = entry()) {
            return entry.shown();
        }
    }

    private void checkExisting(Path file, @Nullable Entry existing) {
        if (existing == null) {
            return;
        }
        if (!existing.is(Entry.REGULAR)) {
            throw refused(existing.is(Entry.DIRECTORY) ? "it is a directory" : "it is not a regular file");
        }
        if (existing.user() != user) {
            throw refused("the file belongs to another user; remove it first, or name another one");
        }
        if (!Files.isWritable(file)) {
            throw refused("permission denied");
        }
    }

    private static Path draft(DirectoryEntry entry) {
        return entry.folder()
                .path()
                .resolve(PREFIX + Long.toHexString(ThreadLocalRandom.current().nextLong()));
    }

    /** Creates the new file. The content is written through its descriptor, so others may rename the file meanwhile. */
    private Writer create(Path draft, DirectoryEntry entry, @Nullable Entry existing, Charset charset)
            throws IOException {
        FileAttribute<?> rights = PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString(existing == null ? "rw-rw-rw-" : "rw-------"));
        Writer writer;
        try {
            writer = new BufferedWriter(Channels.newWriter(
                    Files.newByteChannel(
                            draft, Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE), rights),
                    charset));
        } catch (NoSuchFileException e) {
            // The directory exists, but users can't create files in it, as in /proc.
            throw refused("no file can be created in " + entry.shown().getParent());
        } catch (IOException e) {
            throw refused("no file can be created in " + entry.shown().getParent() + ": " + reason(e));
        }
        if (existing != null) {
            try {
                keepRights(draft, existing);
            } catch (IOException e) {
                writer.close();
                Files.deleteIfExists(draft);
                throw e;
            }
        }
        return writer;
    }

    private static void keepRights(Path draft, Entry existing) throws IOException {
        int rights = existing.rights();
        Entry made = Entry.of(draft);
        if (made == null || made.group() != existing.group()) {
            try {
                Files.setAttribute(draft, "unix:gid", existing.group(), LinkOption.NOFOLLOW_LINKS);
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
            case NoSuchFileException _ -> "its directory was removed";
            case NotDirectoryException e -> e.getFile() + " is not a directory";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> String.valueOf(failure.getMessage());
        };
    }

    /** The user that owns created files: the last of the four ids, which proc(5) calls the file system UID. */
    static int ownUser() {
        Path self = Host.running().self();
        try {
            return StatusFile.read(self)
                    .number("Uid", 3)
                    .orElseThrow(() -> new IOException("the file has no line 'Uid:' with four numbers"));
        } catch (IOException e) {
            throw new CommandException("the user of this process is unknown: " + self + "/status: " + reason(e), e);
        }
    }
}
