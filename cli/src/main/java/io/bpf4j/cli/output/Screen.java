package io.bpf4j.cli.output;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The whole terminal, drawn again and again, and the keys that are typed meanwhile.
 *
 * <p>It is the alternate screen, which terminals have beside the one with the earlier output: closing shows that again
 * as it was. Single keys arrive because the terminal does not wait for lines (it leaves canonical mode) and does not
 * echo. Ctrl-C stays a signal. Ctrl-Z and Ctrl-\ do nothing: the terminal would keep the alternate screen without a
 * command that restores it. Nor does Ctrl-S, which would stop the output. Messages for standard error are kept until
 * the end.
 *
 * <p>The sequences are those of ECMA-48 and, with a question mark, of xterm, which all terminals of today understand
 * but the one that calls itself dumb.
 *
 * <p><i>Confined</i>, but for {@link #resized} and {@link #abandon}.
 *
 * <p>Tested by {@code CliTerminalTest}.
 */
public final class Screen implements AutoCloseable {
    /** Alternate screen, no cursor, and no new line after the last column. */
    private static final String ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";

    private static final String LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String ERASE_LINE = "\u001b[K";
    private static final String ERASE_REST = "\u001b[J";

    private static final String[] SINGLE_KEYS = {
        "-icanon", "-echo", "-ixon", "-iexten", "min", "1", "time", "0", "susp", "undef", "quit", "undef"
    };

    private static final Terminal.Size USUAL = new Terminal.Size(24, 80);

    /** Keys that send more than a character, in both modes of the cursor keys. */
    private static final Map<String, String> LONG_KEYS = Map.of(
            "\u001b[D", "<", "\u001bOD", "<", "\u001b[C", ">", "\u001bOC", ">", "\u001b[A", "<", "\u001b[B", ">");

    private static final int LONGEST_KEY = 3;
    private static final int MOST_TYPED = 256;

    private final Console console;
    private final Terminal terminal;
    private final String settings;
    private final InputStream keys;
    private volatile boolean resized = true;
    private Terminal.Size size = USUAL;
    private volatile boolean closed;

    private Screen(Console console, Terminal terminal, String settings, InputStream keys) {
        this.console = console;
        this.terminal = terminal;
        this.settings = settings;
        this.keys = keys;
    }

    /** Takes the terminal; empty if there is none, or none that can be drawn. The caller closes it. */
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

    /** The terminal has another size now. On any thread. */
    public void resized() {
        resized = true;
    }

    /** Whether {@link #size} is another one than it was. */
    public boolean hasResized() {
        return resized;
    }

    public Terminal.Size size() {
        if (resized) {
            resized = false;
            size = terminal.size().orElse(USUAL);
        }
        return size;
    }

    /** Shows these lines, as many as there is room for; none may be wider than the screen. */
    public void draw(List<String> lines) {
        StringBuilder picture = new StringBuilder(HOME);
        int shown = Math.min(lines.size(), size().rows());
        for (int i = 0; i < shown; i++) {
            // Before the text: after a line that fills the screen the cursor is on its last character.
            picture.append(i == 0 ? "" : "\r\n")
                    .append(i < shown - 1 ? ERASE_LINE : ERASE_REST)
                    .append(lines.get(i));
        }
        write(picture.toString());
    }

    /** The last message for standard error, if there is one. */
    public Optional<String> lastMessage() {
        return console.lastHeld();
    }

    /** The keys that were typed since the last call, without waiting: characters; arrows are {@code <} and {@code >}. */
    public List<String> typed() {
        List<String> all = new ArrayList<>();
        try {
            byte[] bytes = keys.readNBytes(Math.min(keys.available(), MOST_TYPED));
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            for (int i = 0; i < text.length(); i++) {
                String known = LONG_KEYS.get(text.substring(i, Math.min(i + LONGEST_KEY, text.length())));
                all.add(known == null ? text.substring(i, i + 1) : known);
                i += known == null ? 0 : LONGEST_KEY - 1;
            }
        } catch (IOException e) {
            // The terminal is gone; a signal tells, too.
        }
        return all;
    }

    private void write(String sequence) {
        console.text(sequence);
        console.flush();
    }

    /**
     * Gives the terminal back as it was although {@link #close} may never be called or never return, because this process
     * ends at once. On any thread.
     */
    public void abandon() {
        if (!closed) {
            try {
                terminal.leaveAtLast(LEAVE, settings);
            } catch (IOException e) {
                // No process can be started: the terminal stays as it is, and 'reset' mends it.
            }
        }
    }

    /** Gives the terminal back as it was, and writes the messages that were kept. */
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
