package io.bpf4j.cli.output;

import io.bpf4j.sys.Host;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The terminal of standard output, with its size and its settings.
 *
 * <p>Java has no API for these, and the command makes no system calls of its own. So {@code stty} reads and sets
 * them, which POSIX requires and every system has. It runs for some milliseconds, once for each change of the size. A
 * library such as JLine would add native access of its own for a size and two settings.
 *
 * <p><i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliTerminalTest}.
 */
public final class Terminal {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,4}) (\\d{1,4})");
    private static final int MAX_ATTEMPTS = 3;

    /** The time to wait for a terminal that may take no output, in milliseconds. */
    private static final long RESTORE_MILLIS = 500;

    private final boolean input;

    /** Rows and columns, in characters. */
    public record Size(int rows, int columns) {}

    private Terminal(boolean input) {
        this.input = input;
    }

    /** The terminal of this process's standard output; empty if standard output is not a terminal. */
    static Optional<Terminal> ofOutput() {
        return isTerminal(1) ? Optional.of(new Terminal(isTerminal(0))) : Optional.empty();
    }

    /** A terminal is a character device under /dev/pts or /dev/tty. */
    static boolean isTerminal(int descriptor) {
        try {
            String name = Files.readSymbolicLink(file(descriptor)).toString();
            return name.startsWith("/dev/pts/") || name.startsWith("/dev/tty");
        } catch (IOException | UnsupportedOperationException e) {
            return false;
        }
    }

    private static Path file(int descriptor) {
        return Host.running().self().resolve("fd/" + descriptor);
    }

    /** The size now; empty if the terminal has none, or {@code stty} fails. */
    public Optional<Size> size() {
        Matcher size = SIZE.matcher(stty("size").orElse(""));
        if (!size.matches()) {
            return Optional.empty();
        }
        int rows = Integer.parseInt(size.group(1));
        int columns = Integer.parseInt(size.group(2));
        return rows < 1 || columns < 1 ? Optional.empty() : Optional.of(new Size(rows, columns));
    }

    /** All settings, in the form that {@link #set} takes; empty if {@code stty} fails. */
    Optional<String> settings() {
        return stty("-g");
    }

    /** Changes settings. Ctrl-C also ends {@code stty}, so a failed attempt is repeated. */
    boolean set(String... settings) {
        for (int i = 0; i < MAX_ATTEMPTS; i++) {
            if (stty(settings).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Writes a sequence and changes settings when this process is about to end. Its other threads may be in the middle
     * of a sequence, or may wait for a terminal that takes no more output. So another process does it, which may
     * outlive this one. This method waits a moment for that process, so that it usually ends before the shell prints
     * its prompt.
     *
     * @throws IOException if the process can't be started
     */
    void restoreAtExit(String sequence, String settings) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                "sh",
                "-c",
                // CAN (\030) cancels an unfinished sequence. Without the trap for TTOU, a process in the background
                // would be stopped when it sets the terminal.
                "trap '' INT TERM HUP TTOU; printf '\\030%s' \"$1\"; exec stty \"$2\"",
                "sh",
                sequence,
                settings);
        Process process = forTerminal(builder).redirectOutput(Redirect.INHERIT).start();
        try {
            boolean _ = process.waitFor(RESTORE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ProcessBuilder forTerminal(ProcessBuilder builder) {
        return builder.redirectInput(input ? Redirect.INHERIT : Redirect.from(file(1).toFile()))
                .redirectError(Redirect.DISCARD);
    }

    /** The bytes that the user types: standard input if it is a terminal, else the terminal. */
    InputStream keys() throws IOException {
        return input ? new FileInputStream(FileDescriptor.in) : new FileInputStream(file(1).toFile());
    }

    /** The output of {@code stty}, without the line end; empty if it fails. */
    private Optional<String> stty(String... arguments) {
        List<String> command = new ArrayList<>(List.of("stty"));
        command.addAll(List.of(arguments));
        try {
            Process process = forTerminal(new ProcessBuilder(command)).start();
            String answer;
            try (InputStream out = process.getInputStream()) {
                answer = new String(out.readAllBytes(), StandardCharsets.US_ASCII).strip();
            }
            return process.waitFor() == 0 ? Optional.of(answer) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
