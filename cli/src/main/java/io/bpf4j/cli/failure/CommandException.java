package io.bpf4j.cli.failure;

/** A command can't do what was asked; the message is the line the person reads. <i>Immutable.</i> */
public final class CommandException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public CommandException(String message) {
        super(message);
    }

    public CommandException(String message, Throwable cause) {
        super(message, cause);
    }
}
