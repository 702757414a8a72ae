package io.bpf4j.loader;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.BpfFs;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.PeerCommand;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Lists what is pinned in a BPF file system. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * for (Pin pin : Pins.in(Path.of("/sys/fs/bpf"))) {
 *     System.out.println(pin.path() + " " + pin.kind() + " " + pin.id() + " " + pin.name());
 * }
 * }</pre>
 *
 * <p>Tested by {@code PinsOnKernelTest}.
 */
public final class Pins {
    /** Bounds time and memory: any process may make names. */
    private static final int MOST_NAMES = 100_000;

    private static final int MOST_NAMES_OF_DIRECTORY = 10_000;

    /** Of the paths of all names. Below directories with long names each of them may have thousands. */
    private static final int MOST_CHARACTERS = 32_000_000;

    /** Each level keeps a descriptor open. */
    private static final int MOST_LEVELS = 64;

    private static final String NO_LOOK = "the entry can't be looked up";

    private final Host host;
    private final Kernel kernel;
    private final long device;
    private final List<Pin> pins = new ArrayList<>();
    private int names;
    private int characters;

    private Pins(Host host, long device) {
        this.host = host;
        this.kernel = Kernel.of(host);
        this.device = device;
    }

    /** {@link #in(Host, Path)} on the running machine. */
    public static List<Pin> in(Path directory) {
        return in(Host.running(), directory);
    }

    /**
     * What is pinned in a directory and in the directories below it. The pins of a directory come before its
     * subdirectories; both are sorted by name.
     *
     * <p>The listing stays in this file system: it skips symbolic links and file systems that are mounted on a
     * directory. It also skips pins that are removed meanwhile. A pin that this process can't open is in the list with
     * a {@link Pin#problem}. So is a directory that is below 64 others, that has more than 10,000 names, or whose turn
     * comes after 100,000 names in all, or after names whose paths have 32 million characters together. Before Linux
     * 5.19, listing pins needs CAP_BPF if the sysctl kernel.unprivileged_bpf_disabled is set.
     *
     * @throws SyscallException if the directory does not exist (ENOENT) or may not be searched (EACCES)
     * @throws IllegalArgumentException if it is not a directory of a BPF file system
     */
    public static List<Pin> in(Host host, Path directory) {
        Kernel kernel = Kernel.of(host);
        try (Fd root = kernel.execute(new FileCommand.Open(directory, OpenFlags.PATH))) {
            if (!kernel.execute(new PeerCommand.Status(root)).isDirectory()) {
                throw new IllegalArgumentException(directory + " is not a directory");
            }
            BpfFs.requireBpfFs(kernel, root, directory);
            Pins pins = new Pins(
                    host, kernel.execute(new FileCommand.Identify(root)).device());
            pins.directory(root, directory, 0);
            return List.copyOf(pins.pins);
        }
    }

    /** A path that leads to an open file, even if another file has its name now. */
    private static Path path(Host host, Fd file) {
        return host.self().resolve("fd/" + file.number());
    }

    private void directory(Fd directory, Path path, int level) {
        if (level == MOST_LEVELS) {
            problem(
                    path,
                    owner(directory),
                    Diagnostic.Kind.LEFT_OUT,
                    "a directory below " + MOST_LEVELS + " others is not listed");
            return;
        }
        List<Path> entries;
        try {
            entries = names(directory, path);
        } catch (IOException e) {
            problem(path, owner(directory), Diagnostic.Kind.LEFT_OUT, "the directory can't be read: " + reason(e));
            return;
        }
        List<Path> directories = new ArrayList<>();
        for (Path name : entries) {
            if (pin(directory, name, path)) {
                directories.add(name);
            }
        }
        for (Path name : directories) {
            try (Fd below = look(directory, name)) {
                if (isDirectory(below)) {
                    directory(below, path.resolve(name), level + 1);
                }
            } catch (SyscallException e) {
                refused(path.resolve(name), Optional.empty(), Diagnostic.Kind.LEFT_OUT, NO_LOOK, e);
            }
        }
    }

    private List<Path> names(Fd directory, Path path) throws IOException {
        List<Path> found = new ArrayList<>();
        int length = path.toString().length();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(path(host, directory))) {
            for (Path entry : all) {
                Path name = entry.getFileName();
                if (found.size() == MOST_NAMES_OF_DIRECTORY || names == MOST_NAMES || characters > MOST_CHARACTERS) {
                    problem(
                            path,
                            owner(directory),
                            Diagnostic.Kind.LEFT_OUT,
                            "names after the first " + found.size() + " are left out");
                    break;
                }
                names++;
                characters += length + 1 + name.toString().length();
                found.add(name);
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        found.sort(null);
        return found;
    }

    /** The reason without the path, which has only the number of a descriptor. */
    private static String reason(IOException e) {
        String reason = e instanceof FileSystemException failed ? failed.getReason() : e.getMessage();
        return reason == null ? "permission denied" : reason;
    }

    /** Opens whatever has the name, without following it; another file system may be mounted there. */
    private Fd look(Fd directory, Path name) {
        return kernel.execute(
                new FileCommand.Open(path(host, directory).resolve(name), OpenFlags.PATH | OpenFlags.NOFOLLOW));
    }

    private boolean isDirectory(Fd file) {
        PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
        return status.isDirectory() && !status.isMounted() && isHere(file);
    }

    private boolean isHere(Fd file) {
        FileIdentity identity = kernel.execute(new FileCommand.Identify(file));
        return identity.device() == device;
    }

    /** Adds what is pinned at the name, if anything; true if the name is a directory. */
    private boolean pin(Fd directory, Path name, Path parent) {
        Path path = parent.resolve(name);
        try (Fd file = look(directory, name)) {
            PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
            if (status.isMounted() || !isHere(file)) {
                return false;
            }
            if (status.isRegular()) {
                object(path, file, owner(status));
            }
            return status.isDirectory();
        } catch (SyscallException e) {
            refused(path, Optional.empty(), Diagnostic.Kind.LEFT_OUT, NO_LOOK, e);
            return false;
        }
    }

    private static Pin.Owner owner(PeerCommand.Status.FileStatus status) {
        return new Pin.Owner(status.user(), status.group(), status.permissions());
    }

    private Optional<Pin.Owner> owner(Fd file) {
        return Optional.of(owner(kernel.execute(new PeerCommand.Status(file))));
    }

    private void object(Path path, Fd file, Pin.Owner owner) {
        Fd object;
        try {
            object = open(path(host, file));
        } catch (SyscallException e) {
            refused(path, Optional.of(owner), Diagnostic.Kind.UNREADABLE, "the pin can't be opened", e);
            return;
        }
        try (object) {
            add(path, object, owner);
        } catch (SyscallException e) {
            refused(
                    path,
                    Optional.of(owner),
                    Diagnostic.Kind.UNREADABLE,
                    "the kernel does not say what the pinned object is",
                    e);
        }
    }

    /** Opens a pin read-only, so that read permission suffices. The kernel refuses the flag for links (EINVAL). */
    private Fd open(Path file) {
        try {
            return kernel.execute(new ObjectCommand.Get(file, ObjectCommand.READ_ONLY));
        } catch (SyscallException e) {
            if (e.errno() != Errno.EINVAL) {
                throw e;
            }
            return kernel.execute(new ObjectCommand.Get(file, 0));
        }
    }

    private void add(Path path, Fd object, Pin.Owner owner) {
        Optional<ObjectCommand.Kind> kind = kernel.execute(new ObjectCommand.KindOf(object));
        if (kind.isEmpty()) {
            problem(path, Optional.of(owner), Diagnostic.Kind.UNREADABLE, "the kind of the pinned object is unknown");
            return;
        }
        switch (kind.get()) {
            case PROGRAM -> {
                var info = kernel.execute(new ObjectCommand.InfoOfProgram(object));
                add(path, Pin.Kind.PROGRAM, info.id(), info.name(), owner);
            }
            case MAP -> {
                var info = kernel.execute(new ObjectCommand.InfoOfMap(object, false));
                add(path, Pin.Kind.MAP, info.id(), info.name(), owner);
            }
            case LINK ->
                add(
                        path,
                        Pin.Kind.LINK,
                        kernel.execute(new ObjectCommand.InfoOfLink(object)).id(),
                        "",
                        owner);
            case BTF ->
                problem(
                        path,
                        Optional.of(owner),
                        Diagnostic.Kind.UNREADABLE,
                        "BTF is pinned here; only programs, maps and links are listed");
        }
    }

    private void add(Path path, Pin.Kind kind, int id, String name, Pin.Owner owner) {
        pins.add(new Pin(path, Optional.of(kind), id, name, Optional.of(owner), Optional.empty()));
    }

    /** @param failed the start of the message: the step that failed */
    private void refused(
            Path path, Optional<Pin.Owner> owner, Diagnostic.Kind kind, String failed, SyscallException e) {
        // ENOENT: it has vanished since the directory was read. ELOOP does not occur: O_PATH opens symbolic links.
        if (e.errno() != Errno.ENOENT) {
            problem(path, owner, kind, failed + ": " + Errno.describe(e.errnoNumber()));
        }
    }

    private void problem(Path path, Optional<Pin.Owner> owner, Diagnostic.Kind kind, String message) {
        Diagnostic diagnostic = new Diagnostic(kind, FileName.of(path).toString(), message);
        pins.add(new Pin(path, Optional.empty(), 0, "", owner, Optional.of(diagnostic)));
    }
}
