package io.bpf4j.cli.failure;

/** A command failed; the message is the line for the user. <i>Immutable.</i> */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandException(String message) {
        super(message);
    }

    public CommandException(String message, Throwable cause) {
        super(message, cause);
    }
}
