package io.bpf4j.process.peer;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.PeerCommand;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A directory that is open with O_PATH. {@link #path} refers to this directory, even if the names by which it was found
 * are renamed or replaced. <i>Thread-safe.</i>
 */
public final class HeldFolder implements AutoCloseable {
    private final Host host;
    private final Fd fd;
    private final PeerCommand.Status.FileStatus status;

    private HeldFolder(Host host, Fd fd) {
        this.host = host;
        this.fd = fd;
        this.status = Kernel.of(host).execute(new PeerCommand.Status(fd));
    }

    /**
     * The root directory of this process, where each path starts.
     *
     * @throws SyscallException if it can't be opened
     */
    public static HeldFolder root(Host host) {
        return Kernel.of(host)
                .execute(new FileCommand.Open(Path.of("/"), OpenFlags.PATH))
                .ownedBy(fd -> new HeldFolder(host, fd));
    }

    /**
     * Opens a directory in this one; empty if the name is not a directory. A symbolic link to a directory is not one.
     *
     * @param name one name; also {@code ..}
     * @throws SyscallException if it does not exist, or this user may not search this directory
     */
    public Optional<HeldFolder> folder(Path name) {
        HeldFolder found = Kernel.of(host)
                .execute(new FileCommand.Open(path().resolve(name), OpenFlags.PATH | OpenFlags.NOFOLLOW))
                .ownedBy(inner -> new HeldFolder(host, inner));
        if (found.status.isDirectory()) {
            return Optional.of(found);
        }
        found.close();
        return Optional.empty();
    }

    /** {@code /proc/self/fd/N}; valid until this object is closed. */
    public Path path() {
        return host.self().resolve("fd/" + fd.number());
    }

    /**
     * Whether only the creator of a file, the user or root can replace it: the directory belongs to the user or to
     * root, and others either can't write to it, or may remove and rename their own files only, as in {@code /tmp}.
     */
    public boolean isSafeFor(int user) {
        return (status.user() == user || status.user() == 0) && (!status.isWritableByOthers() || status.isSticky());
    }

    @Override
    public void close() {
        fd.close();
    }
}
