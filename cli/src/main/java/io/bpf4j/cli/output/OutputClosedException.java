package io.bpf4j.cli.output;

import java.io.IOException;
import java.util.Optional;

/**
 * Standard output can't be written any more, so the command ends.
 *
 * <p>A reader that closes its end, as in {@code bpf4j list … | head}, is not a failure: the command ends without a
 * message. A write error, for instance because a disk is full, is a failure. In both cases the try-with-resources
 * statements that the exception leaves detach everything. <i>Immutable.</i>
 */
public final class OutputClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutputClosedException(IOException cause) {
        super("standard output is closed", cause);
    }

    /** The write error; empty if the reader has closed its end. */
    public Optional<String> problem() {
        Throwable cause = getCause();
        String reason = cause == null ? "" : String.valueOf(cause.getMessage());
        return reason.contains("Broken pipe")
                ? Optional.empty()
                : Optional.of("standard output can't be written: " + reason);
    }
}
