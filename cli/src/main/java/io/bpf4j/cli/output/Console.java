package io.bpf4j.cli.output;

import io.bpf4j.sys.Diagnostic;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Standard input, output and error as the commands see them.
 *
 * <p>Why not {@code System.out}: a {@code PrintStream} swallows every {@code IOException}, so a command that traces
 * into {@code | head} would never end. Here a failed write is an {@link OutputClosedException}. Output is UTF-8 in
 * every locale: JSON requires it, and a container often has no locale.
 *
 * <p><i>Thread-safe</i>: a line is written as a whole. If standard output blocks, as with a pager, standard error does
 * not.
 */
public final class Console {
    private static final int DEFAULT_COLUMNS = 80;
    private static final int MAX_HELD = 100;

    /** The maximum number of remarks, because processes and files of other owners can cause them. */
    private static final int MAX_REMARKS = 100;

    /** Begins a message. */
    private static final String COMMAND = "bpf4j: ";

    /** Moves to the first column and erases the line. */
    private static final String ERASE = "\r\u001b[K";

    private final OutputStream out;

    /** Bytes that wait to be written to {@link #out}. Its monitor guards both. */
    private final LineBuffer waiting = new LineBuffer();

    /** The write that is in progress; null while there is none. */
    private volatile Stall.@Nullable Write writing;

    /** The thread that has written last, with its folder in {@code /proc}, by {@link #waiting}'s monitor. */
    private @Nullable Thread writer;

    private Path folderOfWriter = Path.of("");

    private final Stall stall = new Stall();

    private final Writer err;
    private final BufferedReader in;
    private final @Nullable Terminal terminal;
    private volatile @Nullable OptionalInt columns;

    /** Messages that wait until the screen is released; null if it is not in use. */
    private @Nullable Deque<String> held;

    private final boolean showsProgress;

    /** The remarks so far by their messages, in their order. Its monitor guards {@link #furtherRemarks}, too. */
    private final Map<String, Remark> remarks = new LinkedHashMap<>();

    private long furtherRemarks;

    /** The progress line at the end of standard error, which will be overwritten; empty if there is none. */
    private String progress = "";

    public Console(OutputStream out, Writer err, Reader in) {
        this(out, err, in, null, false);
    }

    private Console(OutputStream out, Writer err, Reader in, @Nullable Terminal terminal, boolean showsProgress) {
        this.terminal = terminal;
        this.showsProgress = showsProgress;
        this.out = out;
        this.err = err;
        this.in = new BufferedReader(in);
    }

    /** The console of this process. */
    public static Console standard() {
        return new Console(
                new FileOutputStream(FileDescriptor.out),
                new BufferedWriter(
                        new OutputStreamWriter(new FileOutputStream(FileDescriptor.err), StandardCharsets.UTF_8),
                        1 << 16),
                Text.utf8(System.in),
                Terminal.ofOutput().orElse(null),
                Terminal.isTerminal(2));
    }

    /**
     * A console for one of several things that the command does at the same time. Its messages are those of this console,
     * with the name; its output is left out.
     */
    public Console of(String name) {
        return new Console(
                OutputStream.nullOutputStream(),
                new Writer() {
                    @Override
                    public void write(char[] text, int offset, int length) {
                        String line = new String(text, offset, length).stripTrailing();
                        Console.this.write(
                                line.startsWith(COMMAND)
                                        ? COMMAND + Text.printable(name) + ": " + line.substring(COMMAND.length())
                                        : line);
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                },
                Reader.nullReader());
    }

    /** A console for tests, whose standard error is a terminal or not. */
    static Console withProgress(OutputStream out, Writer err, Reader in, boolean terminal) {
        return new Console(out, err, in, null, terminal);
    }

    /**
     * Writes a line to standard output; it may stay in the buffer until {@link #flush()}.
     *
     * @throws OutputClosedException if the reader has closed its end
     */
    public void line(String text) {
        synchronized (waiting) {
            append(text);
            waiting.append('\n');
        }
    }

    /**
     * Writes lines to standard output at once, and clears the buffer.
     *
     * @throws OutputClosedException if the reader has closed its end
     */
    public void lines(LineBuffer lines) {
        synchronized (waiting) {
            flush();
            write(lines);
        }
    }

    private void append(String text) {
        waiting.append(text);
        if (waiting.size() >= LineBuffer.FULL) {
            write(waiting);
        }
    }

    private void write(LineBuffer text) {
        if (text.size() == 0) {
            return;
        }
        writing = new Stall.Write(folderOfThisThread());
        try {
            text.writeTo(out);
        } catch (IOException e) {
            throw new OutputClosedException(e);
        } finally {
            writing = null;
        }
    }

    private Path folderOfThisThread() {
        if (!Thread.currentThread().equals(writer)) {
            writer = Thread.currentThread();
            folderOfWriter = Stall.folderOfThisThread();
        }
        return folderOfWriter;
    }

    /**
     * Whether standard output has taken nothing of what is being written to it for this long: its reader does not read. The
     * time counts from the first call, so this is to be called again and again. Never waits.
     */
    public boolean isBlockedFor(Duration time) {
        return stall.lastsFor(time, writing, System.nanoTime());
    }

    /** The terminal of standard output; empty if standard output is not a terminal. */
    public Optional<Terminal> terminal() {
        return Optional.ofNullable(terminal);
    }

    /** Whether standard output is a terminal. */
    public boolean isTerminal() {
        return terminal != null;
    }

    /**
     * The columns that a line may have; empty if there is no bound, as for a file. {@code COLUMNS} in the environment
     * overrides the size of the terminal (POSIX, environment variables).
     */
    public OptionalInt columns() {
        Terminal device = terminal;
        if (device == null) {
            return OptionalInt.empty();
        }
        OptionalInt known = columns;
        if (known == null) {
            String wanted = System.getenv().getOrDefault("COLUMNS", "");
            known = wanted.matches("[1-9]\\d{0,3}")
                    ? OptionalInt.of(Integer.parseInt(wanted))
                    : OptionalInt.of(device.size().map(Terminal.Size::columns).orElse(DEFAULT_COLUMNS));
            columns = known;
        }
        return known;
    }

    /** Called when the size of the terminal has changed. */
    public void resized() {
        columns = null;
    }

    /** Keeps the last 100 messages until {@link #releaseErrors}, because a screen is drawn. */
    void holdErrors() {
        synchronized (err) {
            held = new ArrayDeque<>();
        }
    }

    /** The last message that is kept. */
    Optional<String> lastHeld() {
        synchronized (err) {
            return held == null ? Optional.empty() : Optional.ofNullable(held.peekLast());
        }
    }

    /** Writes the messages that were kept. */
    void releaseErrors() {
        synchronized (err) {
            Deque<String> all = held;
            held = null;
            if (all != null) {
                all.forEach(this::write);
            }
        }
    }

    /** Writes text without a line end to standard output, such as characters that control the terminal. */
    public void text(String sequence) {
        synchronized (waiting) {
            append(sequence);
        }
    }

    /**
     * Flushes the buffer to the reader.
     *
     * @throws OutputClosedException if the reader has closed its end
     */
    public void flush() {
        synchronized (waiting) {
            write(waiting);
        }
    }

    /**
     * Writes a line to standard error, at once, with escapes for characters that would control a terminal or start
     * another line, because messages contain names of files and names from files. Further lines that are indented, such
     * as those of a verifier log, remain lines. A closed standard error is ignored.
     */
    public void error(String text) {
        write(Text.printableParagraph(text));
    }

    /**
     * Adds a remark: a fact that a reader needs to judge the answer, such as that stacks end early or that a file is
     * left out. Standard error shows it at once, and only once. All forms of the answer get it from {@link #remarks}:
     * the JSON, the page and the picture.
     */
    public void remark(String text) {
        remark(Remark.of(text));
    }

    /** Adds a diagnostic as a remark. */
    public void remark(Diagnostic diagnostic) {
        remark(Remark.of(diagnostic));
    }

    private void remark(Remark remark) {
        synchronized (remarks) {
            if (remarks.containsKey(remark.message())) {
                return;
            }
            if (remarks.size() < MAX_REMARKS) {
                remarks.put(remark.message(), remark);
            } else {
                furtherRemarks++;
            }
        }
        error(COMMAND + remark.message());
    }

    /** The remarks so far. */
    public List<Remark> remarks() {
        synchronized (remarks) {
            List<Remark> all = new ArrayList<>(remarks.values());
            if (furtherRemarks > 0) {
                all.add(Remark.of("and " + furtherRemarks + " more remarks on standard error"));
            }
            return all;
        }
    }

    /** The same as {@link #error} for trusted text of several lines, such as a stack trace. */
    public void errorLines(String text) {
        write(Text.printableLines(text));
    }

    private void write(String text) {
        synchronized (err) {
            if (held != null) {
                if (held.size() == MAX_HELD) {
                    held.removeFirst();
                }
                held.addLast(text);
                return;
            }
            writeNow(progress.isEmpty() ? text + '\n' : ERASE + text + '\n' + progress);
        }
    }

    private void writeNow(String text) {
        try {
            err.write(text);
            err.flush();
        } catch (IOException e) {
            // This failure can't be reported anywhere else.
        }
    }

    /** Whether {@link #progress} shows anything: standard error is a terminal. */
    boolean showsProgress() {
        return showsProgress;
    }

    /**
     * Replaces the progress line at the end of standard error. Messages are printed above it.
     *
     * @param text the new line; empty to remove the line
     */
    void progress(String text) {
        synchronized (err) {
            if (!showsProgress || held != null || (text.isEmpty() && progress.isEmpty())) {
                return;
            }
            int room = DEFAULT_COLUMNS - 1;
            progress = text.length() <= room ? text : text.substring(0, room);
            writeNow(ERASE + progress);
        }
    }

    /**
     * Standard output for picocli's help texts. It leaves flushing to {@link #flush()}, because a {@code PrintWriter}
     * would hide a failure.
     */
    public PrintWriter outWriter() {
        return new PrintWriter(new Writer() {
            @Override
            public void write(char[] text, int offset, int length) {
                text(new String(text, offset, length));
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
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
