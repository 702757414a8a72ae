package io.bpf4j.cli.output;

import java.io.IOException;

/**
 * Nobody reads standard output any more, as after {@code bpf4j list … | head}: the command has nothing left to do.
 *
 * <p>Not a failure: it ends the command quietly, and lets every try-with-resources on the way detach. <i>Immutable.</i>
 */
public final class OutputClosedException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public OutputClosedException(IOException cause) {
        super("standard output is closed", cause);
    }
}
