package io.bpf4j.loader.error;

import io.bpf4j.sys.BpfException;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** A program could not be attached; all effects of the attempt are undone. <i>Immutable.</i> */
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

    /** @param site index of the refused site, from 0 */
    public AttachException(String message, @Nullable Throwable cause, int site) {
        super(message, cause);
        this.site = site;
    }

    /**
     * The index of the refused site, from 0; empty if the failure does not concern a single site, or the site is
     * unknown.
     */
    public OptionalInt site() {
        return site == NONE ? OptionalInt.empty() : OptionalInt.of(site);
    }
}
