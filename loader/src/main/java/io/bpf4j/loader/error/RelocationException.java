package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import org.jspecify.annotations.Nullable;

/**
 * A relocation of an object can't be resolved: its target is missing, or the instruction does not fit the target.
 * <i>Immutable.</i>
 */
public final class RelocationException extends BpfException {
    private static final long serialVersionUID = 1L;

    public RelocationException(String message) {
        super(message);
    }

    public RelocationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
