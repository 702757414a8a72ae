package io.bpf4j.usdt;

import io.bpf4j.loader.error.AttachException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A program could not be attached to a probe. The attempt leaves no link and no spec ID. The cause, if any, is the
 * error of the kernel or of reading the file.
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
