package io.bpf4j.loader.link;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.FileOpener;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * An open file: even if another file is renamed over its path, reading and attaching use the file that was opened. It
 * may be closed as soon as the programs are attached. <i>Thread-safe</i>; it belongs to the caller that opened it.
 *
 * <p>The path may come from an untrusted source, and may change while it is opened. So only a regular file is opened:
 * opening a FIFO waits for its writer, and opening a device may have side effects.
 */
public final class OpenFile implements TargetFile, FileOpener.Opened {
    private final Kernel kernel;
    private final Fd fd;
    private final Path path;
    private final String name;
    private final FileIdentity identity;

    private OpenFile(Kernel kernel, Fd fd, Path path, String name, FileIdentity identity) {
        this.kernel = kernel;
        this.fd = fd;
        this.path = path;
        this.name = name;
        this.identity = identity;
    }

    /**
     * Opens a regular file for reading.
     *
     * @param host the machine to open it on
     * @param path of any bytes, even if the locale has no characters for them
     * @param name of the file in messages
     * @throws SyscallException if it can't be opened, or is not a regular file
     */
    public static OpenFile open(Host host, Path path, String name) {
        Kernel kernel = Kernel.of(host);
        return kernel.execute(new FileCommand.OpenRegular(path, name)).ownedBy(fd -> {
            FileIdentity identity = kernel.execute(new FileCommand.Identify(fd));
            return new OpenFile(kernel, fd, host.self().resolve("fd/" + fd.number()), name, identity);
        });
    }

    /**
     * Opens regular files for {@link io.bpf4j.elf.ElfFile} and other Java code that reads files: opening never waits
     * for a FIFO that has replaced a file.
     *
     * @param host the machine to open them on
     */
    public static FileOpener opener(Host host) {
        return path -> {
            try {
                return open(host, path, path.toString());
            } catch (SyscallException e) {
                IOException failure = switch (e.errno()) {
                    case ENOENT -> new NoSuchFileException(path.toString());
                    case EACCES -> new AccessDeniedException(path.toString());
                    default -> new IOException(e.getMessage());
                };
                failure.initCause(e);
                throw failure;
            }
        };
    }

    /**
     * {@code /proc/self/fd/N}, which opens this file again, for reading by other means. Valid until this object is
     * closed.
     */
    @Override
    public Path path() {
        return path;
    }

    /** The file's name in messages. */
    public String name() {
        return name;
    }

    /**
     * The file descriptor, which still belongs to this object. Kernels from Linux 7.2 on accept it instead of a path.
     *
     * @throws IllegalStateException if closed
     */
    public int descriptor() {
        return fd.number();
    }

    /** The file's identity, to compare it with a file that was read before. */
    public FileIdentity identity() {
        return identity;
    }

    /**
     * Whether the file is on overlay, as the files of most containers are. The kernel places the breakpoints of uprobes
     * in the file of the layer, so a program that is attached through one container also runs in the others of the same
     * image. There the file has the same inode number, size and time, and another device.
     *
     * @throws IllegalStateException if closed
     */
    public boolean isOnOverlay() {
        return kernel.execute(new FileCommand.TypeOfFileSystem(fd)) == FileCommand.TypeOfFileSystem.OVERLAYFS_MAGIC;
    }

    /** Closes the file descriptor; attached programs stay attached. A second call does nothing. */
    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
