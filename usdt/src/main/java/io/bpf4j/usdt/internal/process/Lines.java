package io.bpf4j.usdt.internal.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a file of {@code /proc} line by line, in bytes. Only {@code \n} ends a line, because it is the only character
 * that the kernel escapes in names: a reader that also ends lines at a carriage return, as {@code String.lines} does,
 * would read a forged line from a name.
 *
 * <p>Tested by {@code MapsLineTest}.
 */
public final class Lines {
    private static final int CHUNK = 1 << 16;

    private Lines() {}

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

    /**
     * Reads until the end of the file or until the reader has enough.
     *
     * @return whether the whole file was read; false if reading stopped after {@code mostBytes}
     */
    public static boolean read(Path file, int longestLine, long mostBytes, Reader reader) throws IOException {
        byte[] chunk = new byte[CHUNK];
        byte[] line = new byte[longestLine];
        int length = 0;
        long left = mostBytes;
        try (InputStream in = Files.newInputStream(file)) {
            int got;
            while ((got = in.read(chunk)) > 0) {
                for (int i = 0; i < got; i++) {
                    if (chunk[i] == '\n') {
                        if (!reader.read(line, length)) {
                            return true;
                        }
                        length = 0;
                    } else if (length < longestLine) {
                        line[length++] = chunk[i];
                    }
                }
                left -= got;
                if (left < 0) {
                    return false;
                }
            }
        }
        if (length > 0) {
            reader.read(line, length);
        }
        return true;
    }
}
