package io.bpf4j.cli.output;

import java.io.IOException;
import java.util.Optional;

/**
 * Standard output takes no more: the command has nothing left to do.
 *
 * <p>That nobody reads it, as after {@code bpf4j list … | head}, is no failure: it ends the command quietly. That it could
 * not be written, to a full disk for instance, is one. Either lets every try-with-resources on the way detach.
 * <i>Immutable.</i>
 */
public final class OutputClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutputClosedException(IOException cause) {
        super("standard output is closed", cause);
    }

    /** What is wrong with standard output; empty if only its reader went away. */
    public Optional<String> problem() {
        Throwable cause = getCause();
        String reason = cause == null ? "" : String.valueOf(cause.getMessage());
        return reason.contains("Broken pipe")
                ? Optional.empty()
                : Optional.of("standard output can't be written: " + reason);
    }
}
