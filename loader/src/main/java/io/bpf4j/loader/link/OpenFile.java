package io.bpf4j.loader.link;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import java.nio.file.Path;

/**
 * A file that is held open: whatever is renamed over its path meanwhile, what is read and what programs are attached to
 * is the file that was opened. It may be closed as soon as they are attached. <i>Thread-safe</i>; it belongs to whoever
 * opened it.
 *
 * <p>The path may be one that somebody else chose, and may change while it is opened. So nothing but a regular file is
 * opened: opening a FIFO waits for its writer, and opening a device may do anything.
 */
public final class OpenFile implements TargetFile, AutoCloseable {
    private final Fd fd;
    private final Path path;
    private final String name;
    private final FileIdentity identity;

    private OpenFile(Fd fd, Path path, String name, FileIdentity identity) {
        this.fd = fd;
        this.path = path;
        this.name = name;
        this.identity = identity;
    }

    /**
     * Opens a regular file for reading.
     *
     * @param host the machine to open it on
     * @param path of any bytes, also where the locale has no characters for them
     * @param name what messages call it
     * @throws io.bpf4j.loader.error.SyscallException if it can't be opened, or is no regular file
     */
    public static OpenFile open(Host host, Path path, String name) {
        Kernel kernel = host.kernel();
        Fd fd = kernel.execute(new FileCommand.OpenRegular(path, name));
        try {
            FileIdentity identity = kernel.execute(new FileCommand.Identify(fd));
            return new OpenFile(fd, host.self().resolve("fd/" + fd.number()), name, identity);
        } catch (RuntimeException e) {
            fd.close();
            throw e;
        }
    }

    /** {@code /proc/self/fd/N}, which opens this file again, for reading by other means. Good until this is closed. */
    @Override
    public Path path() {
        return path;
    }

    @Override
    public String name() {
        return name;
    }

    /**
     * The descriptor, which still belongs to this object. Kernels that can (Linux 7.2) are given it in place of a path.
     *
     * @throws IllegalStateException if closed
     */
    public int descriptor() {
        return fd.number();
    }

    /** Which file it is: to compare with that of one that was read before. */
    public FileIdentity identity() {
        return identity;
    }

    /** Closes the descriptor; what was attached stays attached. Does nothing the second time. */
    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return name;
    }
}
