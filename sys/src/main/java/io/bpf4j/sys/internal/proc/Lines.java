package io.bpf4j.sys.internal.proc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a file of {@code /proc} line by line, in bytes, at once or in steps. Only {@code \n} ends a line, because it is
 * the only character that the kernel escapes in names: a reader that also ends lines at a carriage return, as {@code
 * String.lines} does, would read a forged line from a name. <i>Confined.</i>
 *
 * <p>Tested by {@code MapsLineTest}.
 */
public final class Lines implements AutoCloseable {
    private static final int CHUNK = 1 << 16;

    private final InputStream in;
    private final byte[] line;
    private int length;
    private long left;
    private boolean ended;

    /** Receives the lines. */
    public interface Reader {
        /**
         * Receives one line.
         *
         * @param line its bytes from 0 on, valid during this call
         * @param length the number of bytes, at most the requested maximum: the rest of a longer line is left out
         * @return whether to continue
         */
        boolean read(byte[] line, int length) throws IOException;
    }

    /** Opens a file, of which at most {@code mostBytes} are read. */
    public Lines(Path file, int longestLine, long mostBytes) throws IOException {
        this.in = Files.newInputStream(file);
        this.line = new byte[longestLine];
        this.left = mostBytes;
    }

    /**
     * Reads until the end of the file or until the reader has enough.
     *
     * @return whether the whole file was read; false if reading stopped after {@code mostBytes}
     */
    public static boolean read(Path file, int longestLine, long mostBytes, Reader reader) throws IOException {
        try (Lines lines = new Lines(file, longestLine, mostBytes)) {
            byte[] chunk = new byte[CHUNK];
            while (lines.step(chunk, reader)) {
                // to the end
            }
            return !lines.isTooLong();
        }
    }

    /**
     * Reads the next chunk.
     *
     * @param chunk the buffer for one read
     * @return whether there is more to read
     */
    public boolean step(byte[] chunk, Reader reader) throws IOException {
        int count = ended || isTooLong() ? -1 : in.read(chunk);
        for (int i = 0; i < count; i++) {
            if (chunk[i] == '\n') {
                if (!reader.read(line, length)) {
                    ended = true;
                    return false;
                }
                length = 0;
            } else if (length < line.length) {
                line[length++] = chunk[i];
            }
        }
        if (count > 0) {
            left -= count;
            return !isTooLong();
        }
        if (!ended && !isTooLong() && length > 0) {
            reader.read(line, length);
        }
        ended = true;
        return false;
    }

    /** Whether reading has stopped because the file has too many bytes. */
    public boolean isTooLong() {
        return left < 0;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
