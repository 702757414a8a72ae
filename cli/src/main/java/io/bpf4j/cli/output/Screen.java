package io.bpf4j.cli.output;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Draws the whole terminal repeatedly, and reads the keys that are typed meanwhile.
 *
 * <p>It uses the terminal's alternate screen, so closing restores the earlier output. The terminal leaves canonical
 * mode and does not echo, so each typed key arrives at once. Ctrl-C is still a signal. Ctrl-Z and Ctrl-\ are switched
 * off, because they would leave the alternate screen without a command that restores it. Ctrl-S is switched off,
 * because it would stop the output. Messages for standard error are kept until the end.
 *
 * <p>The control sequences are those of ECMA-48 and, with a question mark, of xterm. All terminals of today understand
 * them, except one whose {@code TERM} is {@code dumb}.
 *
 * <p><i>Confined</i>, but for {@link #resized} and {@link #abandon}.
 *
 * <p>Tested by {@code CliTerminalTest}.
 */
public final class Screen implements AutoCloseable {
    /** Switches to the alternate screen, hides the cursor, disables line wrap, and erases the screen. */
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";

    private static final String LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String ERASE_LINE = "\u001b[K";
    private static final String ERASE_REST = "\u001b[J";

    private static final String[] SINGLE_KEYS = {
        "-icanon", "-echo", "-ixon", "-iexten", "min", "1", "time", "0", "susp", "undef", "quit", "undef"
    };

    private static final Terminal.Size DEFAULT_SIZE = new Terminal.Size(24, 80);

    /** Keys that send more than one character, in both modes of the cursor keys. */
    private static final Map<String, String> LONG_KEYS = Map.of(
            "\u001b[D", "<", "\u001bOD", "<", "\u001b[C", ">", "\u001bOC", ">", "\u001b[A", "<", "\u001b[B", ">");

    private static final int MAX_KEY_LENGTH = 3;
    private static final int MAX_TYPED_BYTES = 256;

    private final Console console;
    private final Terminal terminal;
    private final String settings;
    private final InputStream keys;
    private volatile boolean resized = true;
    private Terminal.Size size = DEFAULT_SIZE;
    private volatile boolean closed;

    private Screen(Console console, Terminal terminal, String settings, InputStream keys) {
        this.console = console;
        this.terminal = terminal;
        this.settings = settings;
        this.keys = keys;
    }

    /** Takes over the terminal; empty if there is none, or if it can't be drawn on. The caller closes the screen. */
    public static Optional<Screen> open(Console console) {
        Optional<Terminal> terminal = console.terminal();
        String kind = System.getenv().getOrDefault("TERM", "dumb");
        if (terminal.isEmpty() || kind.equals("dumb")) {
            return Optional.empty();
        }
        Optional<String> settings = terminal.get().settings();
        if (settings.isEmpty()) {
            return Optional.empty();
        }
        try {
            Screen screen = new Screen(
                    console, terminal.get(), settings.get(), terminal.get().keys());
            console.flush();
            if (!terminal.get().set(SINGLE_KEYS)) {
                return Optional.empty();
            }
            console.holdErrors();
            screen.write(ENTER);
            return Optional.of(screen);
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Called when the size of the terminal has changed. May be called on any thread. */
    public void resized() {
        resized = true;
    }

    /** Whether {@link #size} has changed. */
    public boolean hasResized() {
        return resized;
    }

    public Terminal.Size size() {
        if (resized) {
            resized = false;
            size = terminal.size().orElse(DEFAULT_SIZE);
        }
        return size;
    }

    /** Shows lines, as many as there is room for. None may be wider than the screen. */
    public void draw(List<String> lines) {
        StringBuilder picture = new StringBuilder(HOME);
        int shown = Math.min(lines.size(), size().rows());
        for (int i = 0; i < shown; i++) {
            // Erases before the text: after a line as wide as the screen, the cursor is on its last character.
            picture.append(i == 0 ? "" : "\r\n")
                    .append(i < shown - 1 ? ERASE_LINE : ERASE_REST)
                    .append(lines.get(i));
        }
        write(picture.toString());
    }

    /** The last message that is kept for standard error; empty if there is none. */
    public Optional<String> lastMessage() {
        return console.lastHeld();
    }

    /**
     * The keys that were typed since the last call, without waiting: characters; arrows are {@code <} and {@code >}.
     */
    public List<String> typed() {
        List<String> all = new ArrayList<>();
        try {
            byte[] bytes = keys.readNBytes(Math.min(keys.available(), MAX_TYPED_BYTES));
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            for (int i = 0; i < text.length(); i++) {
                String known = LONG_KEYS.get(text.substring(i, Math.min(i + MAX_KEY_LENGTH, text.length())));
                all.add(known == null ? text.substring(i, i + 1) : known);
                i += known == null ? 0 : MAX_KEY_LENGTH - 1;
            }
        } catch (IOException e) {
            // The terminal is gone; SIGHUP ends the command.
        }
        return all;
    }

    private void write(String sequence) {
        console.text(sequence);
        console.flush();
    }

    /**
     * Restores the terminal when this process ends at once, so that {@link #close} is perhaps not called or does not
     * return. May be called on any thread.
     */
    public void abandon() {
        if (!closed) {
            try {
                terminal.restoreAtExit(LEAVE, settings);
            } catch (IOException e) {
                // No process can be started, so the terminal is not restored. The command 'reset' restores it.
            }
        }
    }

    /** Restores the terminal, and writes the messages that were kept. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        try {
            write(LEAVE);
        } finally {
            boolean _ = terminal.set(settings);
            closed = true;
            console.releaseErrors();
        }
    }
}
