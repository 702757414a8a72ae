package io.bpf4j.cli.merge;

/** Input is not what a command prints; the message says why, without the place. <i>Immutable.</i> */
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** How much of a name from the input a message has. */
    private static final int MAX_NAME = 80;

    public Refusal(String message) {
        super(message);
    }

    /** A text of the input in quotes, short enough for a message. */
    static String quoted(String text) {
        return "'" + (text.length() <= MAX_NAME ? text : text.substring(0, MAX_NAME) + "…") + "'";
    }
}
