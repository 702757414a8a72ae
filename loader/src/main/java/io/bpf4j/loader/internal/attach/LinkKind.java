package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.sys.kernel.Errno;

/** Attaches to one kind of target. One class has all code of a kind, including the description of its links. */
interface LinkKind {
    /**
     * Attaches.
     *
     * @throws io.bpf4j.sys.SyscallException if the kernel rejects it; nothing is left attached
     */
    Link attach(AttachRequest request);

    /** The usual meaning of an error number for this kind, appended to the kernel's error; empty if not known. */
    default String refusal(Errno errno) {
        return "";
    }
}
