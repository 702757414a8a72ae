package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.Link;
import org.jspecify.annotations.Nullable;

/** How one kind of target is attached to. One class has all of a kind: also what the kernel tells of its links. */
interface LinkKind {
    /**
     * Attaches.
     *
     * @throws io.bpf4j.loader.error.SyscallException if the kernel refuses; nothing is left attached
     */
    Link attach(Attempt attempt);

    /** What an error number of the kernel's usually means here, to be put after the kernel's words; empty if not known. */
    default String refusal(Errno errno) {
        return "";
    }

    /** The first kernel with such links, which says EINVAL before; null where that is known otherwise. */
    default @Nullable KernelVersion since() {
        return null;
    }
}
