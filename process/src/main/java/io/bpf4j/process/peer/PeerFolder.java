package io.bpf4j.process.peer;

import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.PeerCommand;
import io.bpf4j.sys.kernel.Errno;
import java.io.IOException;
import java.nio.file.Path;

/**
 * A directory of another process, held open: it stays the same directory, whatever is renamed or mounted over its path.
 * Names in it are not followed if they are symbolic links. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code HostileJvmsTest}.
 */
public final class PeerFolder implements AutoCloseable {
    private final PeerProcess process;
    private final Kernel kernel;
    private final Fd fd;
    private final String path;

    /** The owner of the process's root directory, who decides what the process sees of all others. */
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
     * A directory in this one.
     *
     * @throws IOException if the name is not a directory; a symbolic link to one is none
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
     * Whether the process's user may create files here, and no other user may exchange them: the directory is the
     * user's own, and nobody else writes to it; or it is like {@code /tmp}, in which all may write and only the owner
     * of a file may rename or remove it.
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
     * Creates an empty file of the process's user, with the permissions 0600.
     *
     * @return false if the name exists
     */
    public boolean create(String name) {
        try (Fd file = kernel.execute(new PeerCommand.Create(fd, name))) {
            try {
                kernel.execute(new PeerCommand.ChangeOwner(file, process.user(), process.group()));
            } catch (RuntimeException e) {
                remove(name);
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

    /** Removes a name; whether it exists does not matter. */
    public void remove(String name) {
        try {
            kernel.execute(new PeerCommand.Remove(fd, name));
        } catch (SyscallException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
    }

    /** Whether the name exists, as whatever it may be. */
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

    /** Whether the name is a regular file of the process's user that has no other name. */
    public boolean hasOwnFile(String name) {
        try (Fd file = kernel.execute(new PeerCommand.Look(fd, name))) {
            PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
            return status.isRegular() && status.user() == process.user() && status.links() == 1;
        }
    }

    /**
     * Connects to a socket on which this very process listens.
     *
     * @throws IOException if the name is no socket of the process's user, or if another process listens there: a name
     *     may be a link to another process's socket, and the other process would take what is sent for this one's
     * @throws SyscallException if nobody listens
     */
    public PeerSocket connect(String name) throws IOException {
        try (Fd file = kernel.execute(new PeerCommand.Look(fd, name))) {
            PeerCommand.Status.FileStatus status = kernel.execute(new PeerCommand.Status(file));
            if (!status.isSocket() || status.user() != process.user()) {
                throw new IOException(path(name) + " of " + process + " is not a socket of its user " + process.user());
            }
            // Through the open file, so that it is the same one.
            Path again = process.host().self().resolve("fd/" + file.number());
            Fd socket = kernel.execute(new PeerCommand.Connect(again, path(name) + " of " + process));
            try {
                PeerCommand.PeerOf.Credentials peer = kernel.execute(new PeerCommand.PeerOf(socket));
                if (peer.pid() != process.pid() || peer.user() != process.user()) {
                    throw new IOException("process " + peer.pid() + " of user " + peer.user() + " listens at "
                            + path(name) + " of " + process);
                }
                process.requireRunning(); // so that the number is that of this process
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
