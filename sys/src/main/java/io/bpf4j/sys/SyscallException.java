package io.bpf4j.sys;

import io.bpf4j.sys.kernel.Errno;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A system call failed; the message names the call, its object, and the reason. <i>Immutable.</i> */
public final class SyscallException extends BpfException {
    private static final long serialVersionUID = 1L;

    /** The refused call: {@code bpf(BPF_MAP_CREATE) for map "events"}. */
    private final String call;

    /** The kernel's number, kept even if {@link Errno} has no name for it. */
    private final int errnoNumber;

    private final @Nullable String hint;

    /**
     * Creates the exception with all parts of its message.
     *
     * @param call the refused call, with its object
     * @param errnoNumber the positive error number
     * @param hint why this usually happens and what to do about it, as the end of a sentence; null if unknown
     */
    public SyscallException(String call, int errnoNumber, @Nullable String hint) {
        super(call + " failed: " + Errno.describe(errnoNumber) + (hint == null ? "" : ": " + hint));
        this.call = call;
        this.errnoNumber = errnoNumber;
        this.hint = hint;
    }

    /** The refused call, such as {@code bpf(BPF_MAP_CREATE) for map "events"}. */
    public String call() {
        return call;
    }

    /** Why this usually happens and what to do about it, as the end of a sentence. */
    public Optional<String> hint() {
        return Optional.ofNullable(hint);
    }

    public Errno errno() {
        return Errno.of(errnoNumber);
    }

    /** The number of {@link #errno()}, also if that is {@link Errno#UNKNOWN}. */
    public int errnoNumber() {
        return errnoNumber;
    }
}
