package io.bpf4j.elf;

import org.jspecify.annotations.Nullable;

/**
 * The base class of the exceptions for failures that bpf4j reports: malformed input ({@link MalformedDataException}),
 * relocations without a result (CoreException), and failures of loading, attaching and tracing (BpfException). Catch it
 * to handle them alike.
 *
 * <p>Incorrect use of the API is not among them: it causes an {@link IllegalArgumentException} or an {@link
 * IllegalStateException}. If a file can't be opened or read, the cause is a {@link java.io.IOException}.
 * <i>Immutable.</i>
 */
public abstract class Bpf4jException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    protected Bpf4jException(String message) {
        super(message);
    }

    protected Bpf4jException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
