package io.bpf4j.loader.error;

import org.jspecify.annotations.Nullable;

/** An object that reads well and yet can't be loaded: a map without a type, a section nobody knows, two things of one name. <i>Immutable.</i> */
public final class InvalidObjectException extends BpfException {
    private static final long serialVersionUID = 1L;

    public InvalidObjectException(String message) {
        super(message);
    }

    public InvalidObjectException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
