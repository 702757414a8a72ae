package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import org.jspecify.annotations.Nullable;

/**
 * A well-formed object that can't be loaded: a map without a type, an unknown section, duplicate names.
 * <i>Immutable.</i>
 */
public final class InvalidObjectException extends BpfException {
    private static final long serialVersionUID = 1L;

    public InvalidObjectException(String message) {
        super(message);
    }

    public InvalidObjectException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
