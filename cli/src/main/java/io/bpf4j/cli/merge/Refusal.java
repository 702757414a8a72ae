package io.bpf4j.cli.merge;

/**
 * The input is not an answer that a command has printed; the message says why, without file and line. <i>Immutable.</i>
 */
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The maximum length of a name from the input in a message. */
    private static final int MAX_NAME = 80;

    public Refusal(String message) {
        super(message);
    }

    /** A text of the input in quotes, short enough for a message. */
    static String quoted(String text) {
        return "'" + (text.length() <= MAX_NAME ? text : text.substring(0, MAX_NAME) + "…") + "'";
    }
}
