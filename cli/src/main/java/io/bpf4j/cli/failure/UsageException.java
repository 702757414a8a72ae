package io.bpf4j.cli.failure;

/** The command line is invalid; nothing was executed. <i>Immutable.</i> */
public final class UsageException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public UsageException(String message) {
        super(message);
    }

    public UsageException(IllegalArgumentException cause) {
        super(cause.getMessage(), cause);
    }
}
