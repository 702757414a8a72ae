package io.bpf4j.loader.error;

import org.jspecify.annotations.Nullable;

/** Whatever can go wrong between an object and the kernel; the leaves say what. <i>Immutable.</i> */
public class BpfException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public BpfException(String message) {
        super(message);
    }

    public BpfException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
