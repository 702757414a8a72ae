package io.bpf4j.loader.error;

import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A program could not be attached; nothing that the attempt did is left behind. <i>Immutable.</i> */
public class AttachException extends BpfException {
    private static final long serialVersionUID = 1L;

    private static final int NONE = -1;

    private final int site;

    public AttachException(String message) {
        this(message, null);
    }

    public AttachException(String message, @Nullable Throwable cause) {
        super(message, cause);
        this.site = NONE;
    }

    /** @param site which of several sites was refused, from 0 */
    public AttachException(String message, @Nullable Throwable cause, int site) {
        super(message, cause);
        this.site = site;
    }

    /** Which of several sites was refused, from 0; empty if it was not one of them, or it is not known which. */
    public OptionalInt site() {
        return site == NONE ? OptionalInt.empty() : OptionalInt.of(site);
    }
}
