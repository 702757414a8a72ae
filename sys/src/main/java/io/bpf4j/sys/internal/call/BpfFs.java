package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Pins in a BPF file system: the operations that maps, programs and links share.
 *
 * <p>A file descriptor keeps a kernel object alive at most until its process ends. A pin is a name for the object in a
 * BPF file system (kernel/bpf/inode.c), usually mounted at /sys/fs/bpf, and keeps it alive until the name is removed,
 * or the file system unmounted. These names differ from other file systems:
 *
 * <ul>
 *   <li>They are created by BPF_OBJ_PIN and opened by BPF_OBJ_GET; open(2) fails, and unlink(2) removes them.
 *   <li>A dot in a name is reserved, and rejected with EPERM (bpf_lookup in kernel/bpf/inode.c), the same error as for
 *       a directory in another file system. Hence {@link #in}.
 *   <li>A name does not tell the kind of its object, and the kernel returns information about a program if it gets a
 *       program instead of a map. Hence {@link #open} checks the kind of the object.
 * </ul>
 */
public final class BpfFs {
    private BpfFs() {}

    /**
     * Pins an object. Creates the last directory of the path if it is missing, as libbpf does.
     *
     * @return whether it created the directory
     * @throws SyscallException with the reason: the path exists, or its directory is not in a BPF file system
     */
    public static boolean pin(Kernel kernel, Fd object, Path path) {
        ObjectCommand.Pin pin = new ObjectCommand.Pin(object, path);
        try {
            kernel.execute(pin);
            return false;
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT || !pinInNewDirectory(kernel, pin, path.getParent())) {
                throw withHint(e, path);
            }
            return true;
        }
    }

    /** Undoes the creation of a pin's directory, unless others have pinned something there. */
    public static void removeDirectoryOf(Kernel kernel, Path pin) {
        try {
            kernel.execute(new FileCommand.RemoveDirectory(Objects.requireNonNull(pin.getParent())));
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOTEMPTY && e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    private static boolean pinInNewDirectory(Kernel kernel, ObjectCommand.Pin pin, @Nullable Path directory) {
        if (directory == null) {
            return false;
        }
        try {
            kernel.execute(new FileCommand.MakeDirectory(directory));
        } catch (SyscallException e) {
            return false; // the first error is more precise
        }
        try {
            kernel.execute(pin);
            return true;
        } catch (SyscallException e) {
            // The directory was created in a file system of another type.
            throw UndoStack.of(() -> kernel.execute(new FileCommand.RemoveDirectory(directory)))
                    .closeAfter(withHint(e, pin.path()));
        } catch (Error e) {
            UndoStack.of(() -> kernel.execute(new FileCommand.RemoveDirectory(directory)))
                    .closeAfter(e);
            throw e;
        }
    }

    /** Whether the path is a pin of exactly this object. */
    public static boolean isPinned(Kernel kernel, Fd object, ObjectCommand.Kind kind, Path path) {
        try (Fd pinned = find(kernel, path, kind).orElse(null)) {
            return pinned != null && id(kernel, pinned, kind) == id(kernel, object, kind);
        } catch (IllegalArgumentException e) {
            return false; // a pin of another kind of object
        }
    }

    /**
     * Opens a pinned object.
     *
     * @param flags as those of {@link ObjectCommand.Get}
     * @return the file descriptor; the caller closes it
     * @throws SyscallException if the pin does not exist (ENOENT, among others)
     * @throws IllegalArgumentException if it is of another kind
     */
    public static Fd open(Kernel kernel, Path path, ObjectCommand.Kind kind, int flags) {
        Fd opened;
        try {
            opened = kernel.execute(new ObjectCommand.Get(path, flags));
        } catch (SyscallException e) {
            if (e.errno() == Errno.EINVAL && flags != 0) {
                refuseLink(kernel, path, kind);
            }
            throw withHint(e, path);
        }
        return opened.ownedBy(fd -> {
            requireKind(kernel, fd, path, kind);
            return fd;
        });
    }

    /** The kernel has no flags for links (bpf_obj_get_user of kernel/bpf/inode.c), and does not say what it refuses. */
    private static void refuseLink(Kernel kernel, Path path, ObjectCommand.Kind wanted) {
        try (Fd opened = kernel.execute(new ObjectCommand.Get(path, 0))) {
            requireKind(kernel, opened, path, wanted);
        } catch (SyscallException e) {
            return; // the first error is more precise
        }
    }

    private static void requireKind(Kernel kernel, Fd opened, Path path, ObjectCommand.Kind kind) {
        Optional<ObjectCommand.Kind> found = kernel.execute(new ObjectCommand.KindOf(opened));
        if (found.isPresent() && found.get() != kind) {
            throw new IllegalArgumentException(
                    path + " is the pin of a " + nameOfKind(found.get()) + ", not of a " + nameOfKind(kind));
        }
    }

    /** {@link #open}, or empty if the path does not exist. */
    public static Optional<Fd> find(Kernel kernel, Path path, ObjectCommand.Kind kind) {
        try {
            return Optional.of(open(kernel, path, kind, 0));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /**
     * Removes a pin of this object; a pin of another object, or a file in another file system, stays.
     *
     * @return whether a pin was removed
     * @throws IllegalArgumentException if the path is the pin of another object
     */
    public static boolean unpin(Kernel kernel, Fd object, ObjectCommand.Kind kind, Path path) {
        return unpin(kernel, id(kernel, object, kind), object.description(), kind, path);
    }

    /**
     * The same for an object that need not be open.
     *
     * @param object the kernel's id of the object
     * @param description of the object, for messages
     */
    public static boolean unpin(Kernel kernel, int object, String description, ObjectCommand.Kind kind, Path path) {
        Optional<Fd> found = find(kernel, path, kind);
        if (found.isEmpty()) {
            return false;
        }
        try (Fd pinned = found.get()) {
            int id = id(kernel, pinned, kind);
            if (id != object) {
                throw new IllegalArgumentException(path + " is the pin of another " + nameOfKind(kind) + " (id " + id
                        + "), not of " + description);
            }
            kernel.execute(new FileCommand.Unlink(path));
        }
        return true;
    }

    /** The kernel's id of an object. */
    public static int id(Kernel kernel, Fd object, ObjectCommand.Kind kind) {
        return switch (kind) {
            case PROGRAM ->
                kernel.execute(new ObjectCommand.InfoOfProgram(object)).id();
            case MAP ->
                kernel.execute(new ObjectCommand.InfoOfMap(object, false)).id();
            case BTF ->
                kernel.execute(new ObjectCommand.InfoOfBtf(object, false)).id();
            case LINK -> kernel.execute(new ObjectCommand.InfoOfLink(object)).id();
        };
    }

    /**
     * The path of a name in a directory, in the form that a BPF file system accepts: {@code .rodata} becomes {@code
     * _rodata}, as in libbpf.
     *
     * @throws IllegalArgumentException if it is not a single file name: names come from objects, and a slash would lead
     *     out of the directory
     */
    public static Path in(Path directory, String name) {
        if (name.isEmpty() || name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException(
                    "\"" + name + "\" can't be pinned in " + directory + ": it is not a plain file name");
        }
        return FileName.of(nameOf(name)).below(directory);
    }

    private static String nameOf(String name) {
        return name.replace('.', '_');
    }

    private static SyscallException withHint(SyscallException e, Path path) {
        return FailureHints.withHint(e, hint(e.errno(), path));
    }

    private static @Nullable String hint(Errno errno, Path path) {
        Path parent = path.toAbsolutePath().getParent();
        Path directory = parent == null ? path : parent;
        Path name = path.getFileName();
        return switch (errno) {
            case EPERM -> {
                if (name != null && name.toString().indexOf('.') >= 0) {
                    yield "a name in a BPF file system can't contain a dot; use \"" + nameOf(name.toString()) + "\"";
                }
                yield wrongFileSystem(directory);
            }
            // Before a mount, /sys/fs/bpf is a directory of sysfs, which returns ENOENT.
            case ENOENT ->
                Files.isDirectory(directory)
                        ? wrongFileSystem(directory)
                        : "directory " + directory + " does not exist; create it in a mounted BPF file system";
            // In another file system the kernel first checks the rights of a pin, and refuses with EACCES.
            case EACCES -> Files.isDirectory(directory) ? wrongFileSystem(directory) : null;
            case EEXIST -> "the path already exists; unpin it first, or open it";
            default -> null;
        };
    }

    /**
     * Checks the file system of an open directory. Its name does not tell: in the list of mounts a mount may be covered
     * by another one, or belong to another mount namespace.
     *
     * @param name its name in messages
     * @throws IllegalArgumentException if it is another file system
     */
    public static void requireBpfFs(Kernel kernel, Fd directory, Path name) {
        if (kernel.execute(new FileCommand.TypeOfFileSystem(directory)) != FileCommand.TypeOfFileSystem.BPF_FS_MAGIC) {
            String type = fileSystem(name);
            throw new IllegalArgumentException(wrongFileSystem(name, type.equals("bpf") ? "" : type));
        }
    }

    private static @Nullable String wrongFileSystem(Path directory) {
        String type = fileSystem(directory);
        return type.equals("bpf") ? null : wrongFileSystem(directory, type);
    }

    private static String wrongFileSystem(Path directory, String type) {
        return directory + (type.isEmpty() ? " is" : " is in a file system of type " + type + ",")
                + " not in a BPF file system: mount -t bpf bpf /sys/fs/bpf";
    }

    /** The type of a directory's file system, for messages; empty if unknown. */
    private static String fileSystem(Path directory) {
        try {
            return Files.getFileStore(directory).type();
        } catch (IOException | RuntimeException e) {
            return "";
        }
    }

    private static String nameOfKind(ObjectCommand.Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }
}
