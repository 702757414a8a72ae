package io.bpf4j.elf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * An open file that is read at offsets by pread(2), whether or not the thread is interrupted. <i>Thread-safe.</i>
 *
 * <p>A {@link FileChannel} closes itself if a thread is interrupted before or while it reads: a thread of a pool that
 * shuts down would find no probe in any file, nor would other threads that read the same file. So the thread's
 * interrupt status is cleared before the read and restored afterwards. If the interrupt comes during the read, the file
 * is opened again.
 *
 * <p>Tested by {@code OpenElfFileTest}.
 */
final class OpenedFile implements AutoCloseable {
    private final FileOpener opener;
    private final FileOpener.Opened opened;
    private final Path path;
    private final FileIdentity identity;
    private volatile FileChannel channel;
    private volatile boolean closed;

    private OpenedFile(FileOpener opener, FileOpener.Opened opened, Path path, FileIdentity identity)
            throws IOException {
        this.opener = opener;
        this.opened = opened;
        this.path = path;
        this.identity = identity;
        this.channel = openChannel();
    }

    /**
     * Opens a file.
     *
     * @param identity of the file at the path before this call
     * @throws IOException if it can't be opened, or the path no longer leads to that file
     */
    static OpenedFile open(Path path, FileIdentity identity, FileOpener opener) throws IOException {
        FileOpener.Opened opened = opener.open(path);
        try {
            return new OpenedFile(opener, opened, path, identity);
        } catch (Throwable e) {
            opened.close();
            throw e;
        }
    }

    private FileChannel openChannel() throws IOException {
        FileChannel opening = FileChannel.open(opened.path(), StandardOpenOption.READ);
        try {
            // If the path led to the same file before and after the open, that file was opened.
            requireSame();
            return opening;
        } catch (Throwable e) {
            opening.close();
            throw e;
        }
    }

    /** @throws IOException if the path no longer leads to the file whose identity was taken before the open */
    void requireSame() throws IOException {
        if (!FileIdentity.of(opened.path()).equals(identity)) {
            throw new FileSystemException(path.toString(), null, "was replaced or written while it was opened");
        }
    }

    FileOpener opener() {
        return opener;
    }

    /** The path at which this file can be opened again. */
    Path reopenPath() {
        return opened.path();
    }

    boolean isOpen() {
        return !closed;
    }

    /**
     * Reads bytes into a part of an array.
     *
     * @return number of bytes; -1 at the end of the file
     * @throws ClosedChannelException if this is closed
     */
    int read(byte[] target, int at, int length, long offset) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                interrupted |= Thread.interrupted();
                try {
                    return channel.read(ByteBuffer.wrap(target, at, length), offset);
                } catch (ClosedChannelException e) {
                    reopen(e);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Replaces a channel that an interrupt has closed, unless another thread has done so. */
    private synchronized void reopen(ClosedChannelException cause) throws IOException {
        if (closed) {
            throw cause;
        }
        if (!channel.isOpen()) {
            channel = openChannel();
        }
    }

    @Override
    public synchronized void close() {
        closed = true;
        try {
            channel.close();
        } catch (IOException e) {
            // Nothing was written. Linux has released the file descriptor, whatever close(2) returns.
        }
        opened.close();
    }
}
