package io.bpf4j.cli.output;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;

/**
 * Standard input, output and error as the commands see them.
 *
 * <p>Why not {@code System.out}: a {@code PrintStream} swallows every {@code IOException}, so a command that traces
 * into {@code | head} would go on for ever without a reader. Here a failed write is an {@link OutputClosedException}.
 * Bytes are UTF-8 whatever the locale says: JSON demands it, and a container often has no locale at all.
 *
 * <p><i>Thread-safe</i>: a line is written whole.
 */
public final class Console {
    private final Writer out;
    private final Writer err;
    private final BufferedReader in;

    public Console(Writer out, Writer err, Reader in) {
        this.out = out;
        this.err = err;
        this.in = new BufferedReader(in);
    }

    /** The console of this process. */
    public static Console standard() {
        return new Console(
                writer(FileDescriptor.out),
                writer(FileDescriptor.err),
                new InputStreamReader(System.in, StandardCharsets.UTF_8));
    }

    private static Writer writer(FileDescriptor fd) {
        return new BufferedWriter(new OutputStreamWriter(new FileOutputStream(fd), StandardCharsets.UTF_8), 1 << 16);
    }

    /**
     * Writes a line to standard output; it may stay in the buffer until {@link #flush()}.
     *
     * @throws OutputClosedException if nobody reads any more
     */
    public synchronized void line(String text) {
        try {
            out.write(text);
            out.write('\n');
        } catch (IOException e) {
            throw new OutputClosedException(e);
        }
    }

    /**
     * Hands what was written to the reader.
     *
     * @throws OutputClosedException if nobody reads any more
     */
    public synchronized void flush() {
        try {
            out.flush();
        } catch (IOException e) {
            throw new OutputClosedException(e);
        }
    }

    /**
     * Writes a line to standard error, at once, with escapes for what would drive a terminal: messages name files and
     * what is in them. A standard error that is closed is nobody's loss.
     */
    public synchronized void error(String text) {
        try {
            err.write(Text.printableLines(text));
            err.write('\n');
            err.flush();
        } catch (IOException e) {
            // There is no third place to report this to.
        }
    }

    /** Standard output for picocli's help texts. */
    public PrintWriter outWriter() {
        return new PrintWriter(out, true);
    }

    /** Standard error for picocli. */
    public PrintWriter errWriter() {
        return new PrintWriter(err, true);
    }

    public BufferedReader in() {
        return in;
    }
}
