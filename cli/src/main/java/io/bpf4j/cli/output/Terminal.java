package io.bpf4j.cli.output;

import io.bpf4j.loader.host.Host;
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
 * The terminal that standard output is, with its size and its settings.
 *
 * <p>Java has no API for them, and {@code ioctl} is not for the command to call. So {@code stty} does it, which POSIX
 * requires and every system has: a process of some milliseconds, once for each change of the size. A library such as
 * JLine would bring native access of its own for a size and two settings.
 *
 * <p><i>Thread-safe.</i>
 *
 * <p>Tested by {@code CliTerminalTest}.
 */
public final class Terminal {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,4}) (\\d{1,4})");
    private static final int MOST_ATTEMPTS = 3;

    /** How long to wait for a terminal that may take no output, in milliseconds. */
    private static final long LAST_MILLIS = 500;

    private final boolean input;

    /** Rows and columns, in characters. */
    public record Size(int rows, int columns) {}

    private Terminal(boolean input) {
        this.input = input;
    }

    /** The terminal of this process's standard output; empty if that is something else. */
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

    /** Its size now; empty if it has none, or can't be asked. */
    public Optional<Size> size() {
        Matcher size = SIZE.matcher(stty("size").orElse(""));
        if (!size.matches()) {
            return Optional.empty();
        }
        int rows = Integer.parseInt(size.group(1));
        int columns = Integer.parseInt(size.group(2));
        return rows < 1 || columns < 1 ? Optional.empty() : Optional.of(new Size(rows, columns));
    }

    /** All settings, as {@link #set} takes them; empty if it can't be asked. */
    Optional<String> settings() {
        return stty("-g");
    }

    /** Changes settings. Ctrl-C ends {@code stty}, too, so it is tried again. */
    boolean set(String... settings) {
        for (int i = 0; i < MOST_ATTEMPTS; i++) {
            if (stty(settings).isPresent()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Writes a sequence and changes settings when this process is about to end, whatever its other threads are doing: they
     * may be in the middle of a sequence, or wait for a terminal that takes no more output. So another process does it,
     * which may take longer than this one lives. It is waited for a moment, so that it usually comes before the prompt of
     * the shell.
     *
     * @throws IOException if the process can't be started
     */
    void leaveAtLast(String sequence, String settings) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                "sh",
                "-c",
                // CAN ends a sequence that was begun. Who is in the background may not set a terminal without the trap.
                "trap '' INT TERM HUP TTOU; printf '\\030%s' \"$1\"; exec stty \"$2\"",
                "sh",
                sequence,
                settings);
        Process process = forTerminal(builder).redirectOutput(Redirect.INHERIT).start();
        try {
            boolean _ = process.waitFor(LAST_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ProcessBuilder forTerminal(ProcessBuilder builder) {
        return builder.redirectInput(input ? Redirect.INHERIT : Redirect.from(file(1).toFile()))
                .redirectError(Redirect.DISCARD);
    }

    /** The bytes that the user types: standard input, or the terminal if standard input is something else. */
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
