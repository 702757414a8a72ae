package io.bpf4j.usdt;

import io.bpf4j.loader.error.AttachException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A program could not be attached to a probe. Nothing of the attempt is left: no link, no spec ID. The cause, where there
 * is one, is what the kernel or the file said.
 */
public final class UsdtException extends AttachException {
    @Serial
    private static final long serialVersionUID = 1;

    public UsdtException(String message) {
        super(message);
    }

    public UsdtException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
