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
 * A directory that is held open without being read. A path through {@link #path} leads into this very directory,
 * whatever is renamed or linked at the names by which it was found. <i>Thread-safe.</i>
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
     * The root directory of this process, from which each step leads on.
     *
     * @throws SyscallException if it can't be opened
     */
    public static HeldFolder root(Host host) {
        return Kernel.of(host)
                .execute(new FileCommand.Open(Path.of("/"), OpenFlags.PATH))
                .ownedBy(fd -> new HeldFolder(host, fd));
    }

    /**
     * A directory in this one; empty if the name is none. A symbolic link to a directory is none.
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
     * Whether the names in it belong to whoever made them: the directory is the user's or root's, and others either
     * can't write to it, or may remove and rename their own files only, as in {@code /tmp}.
     */
    public boolean isSafeFor(int user) {
        return (status.user() == user || status.user() == 0) && (!status.isWritableByOthers() || status.isSticky());
    }

    @Override
    public void close() {
        fd.close();
    }
}
