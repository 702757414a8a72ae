package io.bpf4j.loader.error;

import org.jspecify.annotations.Nullable;

/** A program could not be attached; nothing that the attempt did is left behind. <i>Immutable.</i> */
public class AttachException extends BpfException {
    private static final long serialVersionUID = 1L;

    public AttachException(String message) {
        super(message);
    }

    public AttachException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
