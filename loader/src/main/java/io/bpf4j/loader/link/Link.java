package io.bpf4j.loader.link;

import java.nio.file.Path;

/**
 * A program attached to something. It belongs to whoever attached; closing it detaches. <i>Thread-safe.</i>
 *
 * <p>A link outlives the object that its program came from, if that is closed first: the kernel keeps the program for as
 * long as the link is there.
 *
 * <p>Most are one link of the kernel, and can be asked about, updated, detached and pinned. Some are not: those of
 * several perf events or USDT probes, those by ioctl on kernels without perf links (before 5.15), and those of maps of
 * sockets on kernels without links for them (before 6.10). What these can't do is refused with {@link
 * UnsupportedOperationException}.
 */
public interface Link extends AutoCloseable {
    /** What is attached to what, for messages: {@code on_gc to uprobes in …/libjvm.so}. */
    String description();

    boolean isClosed();

    /**
     * What the kernel says about it now.
     *
     * @throws IllegalStateException if it is closed
     */
    default LinkInfo info() {
        throw notOneLink("described");
    }

    /**
     * Puts another program in the place of this link's, in one step: no packet or call goes without. It must be of the
     * same type and attach type. The kernel can do so for XDP, tcx, netkit, control groups, network namespaces, maps of
     * sockets and iterators; for others it says EINVAL or EOPNOTSUPP.
     *
     * @param program stays its object's
     * @throws io.bpf4j.loader.error.AttachException if it can't be; the old program stays
     */
    default void update(ProgramHandle program) {
        throw notOneLink("updated");
    }

    /**
     * As {@link #update(ProgramHandle)}, if the link still has the program that is expected.
     *
     * @throws io.bpf4j.loader.error.AttachException also if it has another (EPERM)
     */
    default void update(ProgramHandle program, ProgramHandle expected) {
        throw notOneLink("updated");
    }

    /**
     * Detaches, and keeps the link: it can still be asked about, and does nothing (Linux 5.9). Unlike {@link #close} it
     * also works on a link that others hold or that is pinned. The kernel can do so for XDP, tcx, netkit, netfilter, control
     * groups, network namespaces, maps of sockets and struct_ops.
     *
     * @throws io.bpf4j.loader.error.AttachException for others (EOPNOTSUPP)
     */
    default void detach() {
        throw notOneLink("detached without being closed");
    }

    /**
     * Gives it a name in a BPF file system, where it outlives this process: closing the link then no longer detaches.
     *
     * @param path does not exist yet; its directory is in a mounted bpffs
     */
    default void pin(Path path) {
        throw notOneLink("pinned");
    }

    /**
     * Takes the name away again. The program stays attached until this link is closed, too.
     *
     * @return whether there was a pin
     * @throws IllegalArgumentException if the path is the pin of something else
     */
    default boolean unpin(Path path) {
        throw notOneLink("pinned");
    }

    /**
     * Detaches. May wait for the kernel to see the last running program out: tens of milliseconds for uprobes, whatever
     * the number of sites. Does nothing the second time. Of a pinned link it only gives this process's hold back.
     */
    @Override
    void close();

    /**
     * As {@link #close}, but by a thread of its own: {@link #isClosed} is true at once, while sites that are left may still
     * fire. It is worth it where many places have a perf event each: the kernel takes about 0.1 s for each. The object of
     * the programs may be closed meanwhile, which is safe, since the kernel keeps its maps as long; but what the last
     * events said can't be read any more.
     *
     * <p>The thread is a daemon: if the process ends first, the kernel closes the rest, and lets the process go only then.
     * Where the process may have no more threads, all is done before this returns.
     *
     * @return how far it is; if closing had begun, by this or by {@link #close}, of what began it
     */
    Closing closeAsync();

    private UnsupportedOperationException notOneLink(String can) {
        return new UnsupportedOperationException(
                description() + " is not one link of the kernel, which could be " + can);
    }
}
