package io.bpf4j.cli.output;

import io.bpf4j.loader.host.Host;
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
import java.nio.file.Files;

/**
 * Standard input, output and error as the commands see them.
 *
 * <p>Why not {@code System.out}: a {@code PrintStream} swallows every {@code IOException}, so a command that traces
 * into {@code | head} would never end. Here a failed write is an {@link OutputClosedException}. Output is UTF-8 in
 * every locale: JSON requires it, and a container often has no locale.
 *
 * <p><i>Thread-safe</i>: a line is written whole. Standard output that blocks, as with a pager, does not block writers
 * to standard error.
 */
public final class Console {
    private final Writer out;
    private final Writer err;
    private final BufferedReader in;
    private final boolean terminal;

    public Console(Writer out, Writer err, Reader in) {
        this(out, err, in, false);
    }

    private Console(Writer out, Writer err, Reader in, boolean terminal) {
        this.terminal = terminal;
        this.out = out;
        this.err = err;
        this.in = new BufferedReader(in);
    }

    /** The console of this process. */
    public static Console standard() {
        return new Console(
                writer(FileDescriptor.out),
                writer(FileDescriptor.err),
                new InputStreamReader(System.in, StandardCharsets.UTF_8),
                isTerminal(1));
    }

    /** A terminal is a character device under /dev/pts or /dev/tty. */
    private static boolean isTerminal(int descriptor) {
        try {
            String name = Files.readSymbolicLink(Host.running().self().resolve("fd/" + descriptor))
                    .toString();
            return name.startsWith("/dev/pts/") || name.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private static Writer writer(FileDescriptor fd) {
        return new BufferedWriter(new OutputStreamWriter(new FileOutputStream(fd), StandardCharsets.UTF_8), 1 << 16);
    }

    /**
     * Writes a line to standard output; it may stay in the buffer until {@link #flush()}.
     *
     * @throws OutputClosedException if the reader has closed its end
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

    /** Whether standard output is a terminal, which is one screen that may be drawn again. */
    public boolean isTerminal() {
        return terminal;
    }

    /** Writes characters that control the terminal to standard output. */
    public void control(String sequence) {
        synchronized (out) {
            try {
                out.write(sequence);
            } catch (IOException e) {
                throw new OutputClosedException(e);
            }
        }
    }

    /**
     * Flushes the buffer to the reader.
     *
     * @throws OutputClosedException if the reader has closed its end
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
     * Writes a line to standard error, at once, with escapes for characters that would control a terminal or start
     * another line: messages contain names of files and from files. Further lines that are indented, such as those of a
     * verifier log, stay lines. A closed standard error is ignored.
     */
    public void error(String text) {
        write(Text.printableParagraph(text));
    }

    /** The same for trusted text of several lines, such as a stack trace. */
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
                // This failure can't be reported anywhere else.
            }
        }
    }

    /**
     * Standard output for picocli's help texts. It leaves flushing to {@link #flush()}, because a {@code PrintWriter}
     * would hide a failure.
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
