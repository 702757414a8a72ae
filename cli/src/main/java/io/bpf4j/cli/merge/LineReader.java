package io.bpf4j.cli.merge;

import java.io.IOException;
import java.io.Reader;
import org.jspecify.annotations.Nullable;

/** Reads lines of bounded length, so that no input can fill the memory. <i>Confined.</i> */
final class LineReader {
    /** The maximum length of a line in chars. The longest stack, of long names, has a tenth of it. */
    static final int MAX_LINE = 16 << 20;

    private final Reader reader;
    private final char[] buffer = new char[1 << 16];
    private int next;
    private int end;
    private long number;
    private boolean complete = true;

    LineReader(Reader reader) {
        this.reader = reader;
    }

    /**
     * The next line without its end; null if there is none.
     *
     * @throws Refusal if the line is too long
     */
    @Nullable
    String next() throws IOException {
        StringBuilder line = new StringBuilder();
        number++;
        while (true) {
            if (next == end) {
                next = 0;
                end = Math.max(0, reader.read(buffer));
                if (end == 0) {
                    complete = false;
                    return line.isEmpty() ? null : line.toString();
                }
            }
            int start = next;
            while (next < end && buffer[next] != '\n') {
                next++;
            }
            line.append(buffer, start, next - start);
            if (line.length() > MAX_LINE) {
                throw new Refusal("is longer than " + MAX_LINE + " characters, so it is not an answer of bpf4j");
            }
            if (next < end) {
                next++;
                return line.toString();
            }
        }
    }

    /** The number of the last line, from 1 on. */
    long number() {
        return number;
    }

    /** Whether the last line ends in a line feed. */
    boolean isComplete() {
        return complete;
    }
}
