package io.bpf4j.process;

import java.io.IOException;

/** A process exceeds {@link ProcessLimits}; the message names the process. */
public final class TooMuchException extends IOException {
    private static final long serialVersionUID = 1L;

    TooMuchException(String message) {
        super(message);
    }
}
