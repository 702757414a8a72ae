package io.bpf4j.elf;

import java.io.IOException;
import java.nio.file.Path;

/**
 * How a file is opened for reading.
 *
 * <p>Opening a FIFO waits until another process writes to it. So files are checked first, but whoever owns a file's
 * folder can put a FIFO in its place between the check and the open. Java can't open a file without waiting; a module
 * with system calls can, and brings its own opener.
 */
@FunctionalInterface
public interface FileOpener {
    /** Opens files by Java alone: for files whose folders belong to somebody who is trusted. */
    FileOpener JAVA = path -> () -> path;

    /** An open file. Whoever opened it closes it. */
    interface Opened extends AutoCloseable {
        /**
         * A path to read the file by, valid until this is closed. With an opener that has system calls, it leads to the
         * file that was opened, whatever lies in its place now.
         */
        Path path();

        /** Releases the file, if more than a path was kept; a second call does nothing. */
        @Override
        default void close() {}
    }

    /**
     * Opens a file, or finds where it is.
     *
     * @throws IOException if it can't be opened
     */
    Opened open(Path file) throws IOException;
}
