package io.bpf4j.process.peer;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.PeerCommand;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Path;

/**
 * An open directory of another process. It stays the same directory, even if its path is renamed or mounted over. Names
 * in it are not followed if they are symbolic links. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code HostileJvmsTest}.
 */
public final class PeerFolder implements AutoCloseable {
    private final PeerProcess process;
    private final Kernel kernel;
    private final Fd fd;
    private final String path;

    /** The owner of the process's root directory, who controls all other directories that the process sees. */
    private final int rootOwner;

    private PeerFolder(PeerProcess process, Fd fd, String path, int rootOwner) {
        this.process = process;
        this.kernel = Kernel.of(process.host());
        this.fd = fd;
        this.path = path;
        this.rootOwner = rootOwner;
    }

    static PeerFolder root(PeerProcess process, Fd fd) {
        int owner =
                Kernel.of(process.host()).execute(new PeerCommand.Status(fd)).user();
        return new PeerFolder(process, fd, "", owner);
    }

    /**
     * Opens a directory in this one.
     *
     * @throws IOException if the name is not a directory; a symbolic link to a directory is not one
     * @throws SyscallException if it does not exist
     */
    public PeerFolder folder(String name) throws IOException {
        Fd found = kernel.execute(new PeerCommand.Look(fd, name));
        try {
            if (!kernel.execute(new PeerCommand.Status(found)).isDirectory()) {
                throw new IOException(path(name) + " is not a directory");
            }
            return new PeerFolder(process, found, path(name), rootOwner);
        } catch (IOException | RuntimeException e) {
            found.close();
            throw e;
        }
    }

    /**
     * Whether the process's user may create files in this directory, and no other user may replace them: the directory
     * belongs to the user, and no other user may write to it; or it is like {@code /tmp}, where all users may write and
     * only the owner of a file may rename or remove it.
     */
    public boolean isSafeForUser() {
        PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(fd));
        boolean trusted = status.user() == process.user() || status.user() == 0 || status.user() == rootOwner;
        return trusted
                && (status.isWritableByOthers()
                        ? status.isSticky() && status.isWritableByAll()
                        : status.user() == process.user());
    }

    /**
     * Creates an empty file that belongs to the process's user, with the permissions 0600.
     *
     * @return false if the name exists
     */
    public boolean create(String name) {
        try (Fd file = kernel.execute(new PeerCommand.Create(fd, name))) {
            try {
                kernel.execute(new PeerCommand.ChangeOwner(file, process.user(), process.group()));
            } catch (RuntimeException | Error e) {
                UndoStack.of(() -> remove(name)).closeAfter(e);
                throw e;
            }
            return true;
        } catch (SyscallException e) {
            if (e.errno() == Errno.EEXIST) {
                return false;
            }
            throw e;
        }
    }

    /** Removes a name, if it exists. */
    public void remove(String name) {
        try {
            kernel.execute(new PeerCommand.Remove(fd, name));
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Whether the name exists, whatever kind of file it is. */
    public boolean has(String name) {
        try (Fd _ = kernel.execute(new PeerCommand.Look(fd, name))) {
            return true;
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENOENT) {
                return false;
            }
            throw e;
        }
    }

    /** Whether the name is a regular file of the process's user without other hard links. */
    public boolean hasOwnFile(String name) {
        try (Fd file = kernel.execute(new PeerCommand.Look(fd, name))) {
            PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
            return status.isRegular() && status.user() == process.user() && status.links() == 1;
        }
    }

    /**
     * Connects to a socket on which this process listens.
     *
     * @throws IOException if the name is not a socket of the process's user, or if another process listens on it: a
     *     name may be a link to another process's socket, which would receive the request
     * @throws SyscallException if no process listens
     */
    public PeerSocket connect(String name) throws IOException {
        try (Fd file = kernel.execute(new PeerCommand.Look(fd, name))) {
            PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
            if (!status.isSocket() || status.user() != process.user()) {
                throw new IOException(path(name) + " of " + process + " is not a socket of its user " + process.user());
            }
            // Through the open file, because the name may be another file now.
            Path pathOfOpenFile = process.host().self().resolve("fd/" + file.number());
            Fd socket = kernel.execute(new PeerCommand.Connect(pathOfOpenFile, path(name) + " of " + process));
            try {
                PeerCommand.PeerOf.Credentials peer = kernel.execute(new PeerCommand.PeerOf(socket));
                if (peer.pid() != process.pid() || peer.user() != process.user()) {
                    throw new IOException("process " + peer.pid() + " of user " + peer.user() + " listens on "
                            + path(name) + " of " + process);
                }
                process.requireRunning(); // otherwise the pid may belong to another process
                return new PeerSocket(kernel, socket);
            } catch (IOException | RuntimeException e) {
                socket.close();
                throw e;
            }
        }
    }

    private String path(String name) {
        return path + "/" + name;
    }

    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return path;
    }
}
