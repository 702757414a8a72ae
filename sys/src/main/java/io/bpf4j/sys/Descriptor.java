package io.bpf4j.sys;

import io.bpf4j.sys.internal.call.OwnDescriptor;

/**
 * A file descriptor of a map, a program or a link for other code: for system calls that bpf4j does not make, such as
 * setsockopt(2) with SO_ATTACH_BPF, messages of netlink, SCM_RIGHTS, or an event loop. <i>Thread-safe.</i>
 *
 * <p>It is a duplicate: the map, program or link that returned it has its own descriptor, and can be closed first. The
 * duplicate belongs to the caller, who must close it; until then it keeps the object in the kernel. A link stays
 * attached as long as one of its descriptors is open.
 *
 * <p>Tested by {@code DescriptorsOnKernelTest}.
 */
public sealed interface Descriptor extends AutoCloseable permits OwnDescriptor {
    /**
     * The number. After {@link #close} another file may get it. Code that gets the number must not close it.
     *
     * @throws IllegalStateException if it is closed
     */
    int number();

    /**
     * Lets processes that this one starts inherit the descriptor: without this call, exec closes it (FD_CLOEXEC of
     * fcntl(2)). Processes of {@link ProcessBuilder} inherit only the descriptors 0, 1 and 2 in any case.
     *
     * @throws IllegalStateException if it is closed
     */
    void makeInheritable();

    boolean isClosed();

    /** Closes the descriptor. A second call does nothing. */
    @Override
    void close();
}
