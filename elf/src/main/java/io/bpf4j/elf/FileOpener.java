package io.bpf4j.elf;

import java.io.IOException;
import java.nio.file.Path;

/**
 * How a file is opened for reading.
 *
 * <p>Opening a FIFO waits until another process writes to it. So files are checked first, but whoever owns a file's
 * folder can put a FIFO in its place between the check and the open. Java can't open a FIFO without waiting; a module
 * that makes system calls can, and passes its own opener.
 */
@FunctionalInterface
public interface FileOpener {
    /** Opens files by Java alone: for files whose folders belong to trusted users. */
    FileOpener JAVA = path -> () -> path;

    /** An open file. The caller of {@link FileOpener#open} closes it. */
    interface Opened extends AutoCloseable {
        /**
         * The path to read the file at, valid until this is closed. With an opener that makes system calls, it leads to
         * the file that was opened, even if that file has been replaced since.
         */
        Path path();

        /** Closes the file, if it is held open; a second call does nothing. */
        @Override
        default void close() {}
    }

    /**
     * Opens a file, or just keeps its path.
     *
     * @throws IOException if it can't be opened
     */
    Opened open(Path file) throws IOException;
}
