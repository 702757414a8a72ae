package io.bpf4j.cli.failure;

/** The command was called in a way that means nothing; nothing was tried. <i>Immutable.</i> */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        super(message);
    }

    public UsageException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
    }
}
