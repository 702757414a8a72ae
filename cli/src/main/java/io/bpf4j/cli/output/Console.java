package io.bpf4j.cli.output;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.FilterWriter;
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
 * <p><i>Thread-safe</i>: a line is written whole. Standard output that nobody reads, as that of a pager, holds up nobody who
 * writes to standard error.
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
    public void line(String text) {
        synchronized (out) {
            try {
                out.write(text);
                out.write('\n');
            } catch (IOException e) {
                throw new OutputClosedException(e);
            }
        }
    }

    /**
     * Hands what was written to the reader.
     *
     * @throws OutputClosedException if nobody reads any more
     */
    public void flush() {
        synchronized (out) {
            try {
                out.flush();
            } catch (IOException e) {
                throw new OutputClosedException(e);
            }
        }
    }

    /**
     * Writes a line to standard error, at once, with escapes for what would drive a terminal or begin another line: messages
     * name files and what is in them. Further lines that are indented, such as those of a verifier's log, stay lines. A
     * standard error that is closed is nobody's loss.
     */
    public void error(String text) {
        write(Text.printableParagraph(text));
    }

    /** The same for text whose lines are our own, such as a stack. */
    public void errorLines(String text) {
        write(Text.printableLines(text));
    }

    private void write(String text) {
        synchronized (err) {
            try {
                err.write(text);
                err.write('\n');
                err.flush();
            } catch (IOException e) {
                // There is no third place to report this to.
            }
        }
    }

    /**
     * Standard output for picocli's help texts. It leaves flushing to {@link #flush()}: a {@code PrintWriter} would keep to
     * itself that it failed.
     */
    public PrintWriter outWriter() {
        return new PrintWriter(new FilterWriter(out) {
            @Override
            public void flush() {}
        });
    }

    /** Standard error for picocli. */
    public PrintWriter errWriter() {
        return new PrintWriter(err, true);
    }

    public BufferedReader in() {
        return in;
    }
}
