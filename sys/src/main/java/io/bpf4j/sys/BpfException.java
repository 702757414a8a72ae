package io.bpf4j.sys;

import io.bpf4j.elf.Bpf4jException;
import org.jspecify.annotations.Nullable;

/** A failure of loading or attaching; the subclasses are the kinds of failures. <i>Immutable.</i> */
public class BpfException extends Bpf4jException {
    private static final long serialVersionUID = 1L;

    public BpfException(String message) {
        super(message);
    }

    public BpfException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
