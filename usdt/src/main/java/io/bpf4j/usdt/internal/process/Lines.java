package io.bpf4j.usdt.internal.process;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a file of {@code /proc} line by line, in bytes. Only {@code \n} ends a line: it is what the kernel escapes in
 * names, and nothing else, so a carriage return in a name would forge a line for readers that take it for an end, as
 * {@code String.lines} does.
 */
final class Lines {
    private static final int CHUNK = 1 << 16;

    private Lines() {}

    /** Takes the lines. */
    interface Reader {
        /**
         * Takes one line.
         *
         * @param line its bytes from 0 on, good for this call
         * @param length how many, at most as many as were asked for: the rest of a longer line is left out
         * @return whether to go on
         */
        boolean read(byte[] line, int length) throws IOException;
    }

    /**
     * Reads until the end of the file or until the reader has enough.
     *
     * @return whether all was read, rather than {@code mostBytes} and no more
     */
    static boolean read(Path file, int longestLine, long mostBytes, Reader reader) throws IOException {
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
