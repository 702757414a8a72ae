package io.bpf4j.usdt.internal.process;

import java.io.IOException;

/** A process that would cost its reader more than {@link ProcessLimits} allow; the message names it. */
public final class TooMuchException extends IOException {
    private static final long serialVersionUID = 1L;

    TooMuchException(String message) {
        super(message);
    }
}
