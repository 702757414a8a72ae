package io.bpf4j.cli.output;

import java.util.Map;

/**
 * Colours text, or leaves it plain. {@code --color}, the environment variable {@code NO_COLOR} (no-color.org) and the
 * kind of standard output decide which. <i>Immutable.</i>
 *
 * <p>Tested by {@code PaintTest}.
 */
public final class Paint {
    /** No colours. */
    public static final Paint NONE = new Paint(false, false);

    /** The number of shades that can be told apart, besides 0, which means no shade. */
    public static final int SHADES = 8;

    private static final String RESET = "\u001b[0m";

    /**
     * Colours from dark to bright, as indexes into xterm's table of 256 colours. They suit black and white backgrounds.
     */
    private static final int[] HEAT = {0, 17, 18, 54, 90, 126, 167, 209, 221};

    private static final String BLOCKS = " ░░▒▒▓▓██";

    private final boolean on;
    private final boolean many;

    /** When to colour. */
    public enum Choice {
        AUTO,
        ALWAYS,
        NEVER
    }

    private Paint(boolean on, boolean many) {
        this.on = on;
        this.many = many;
    }

    /**
     * Colours for standard output.
     *
     * @param terminal whether standard output is a terminal
     * @param environment the environment, of which {@code NO_COLOR}, {@code TERM} and {@code COLORTERM} are read
     */
    public static Paint of(Choice choice, boolean terminal, Map<String, String> environment) {
        String term = environment.getOrDefault("TERM", "dumb");
        boolean on = choice == Choice.ALWAYS
                || (choice == Choice.AUTO
                        && terminal
                        && environment.getOrDefault("NO_COLOR", "").isEmpty()
                        && !term.equals("dumb"));
        return on ? new Paint(true, term.contains("256") || environment.containsKey("COLORTERM")) : NONE;
    }

    /** Headers and keys. */
    public String strong(String text) {
        return sgr("1", text);
    }

    /** Text that is less important than the rest. */
    public String faint(String text) {
        return sgr("2", text);
    }

    /** The bars of a histogram. */
    public String bar(String text) {
        return sgr("36", text);
    }

    /** The chosen item of several. */
    public String chosen(String text) {
        return sgr("1;7", text);
    }

    private String sgr(String attributes, String text) {
        return on && !text.isEmpty() ? "\u001b[" + attributes + "m" + text + RESET : text;
    }

    /**
     * A cell of a heat map: a colour, or a block character that covers more of the cell for a higher level.
     *
     * @param level 0 to {@link #SHADES}
     */
    public String shade(int level, int width) {
        if (on && many) {
            return level == 0 ? " ".repeat(width) : "\u001b[48;5;" + HEAT[level] + "m" + " ".repeat(width) + RESET;
        }
        return bar(BLOCKS.substring(level, level + 1).repeat(width));
    }
}
