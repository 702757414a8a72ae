package io.bpf4j.loader.link;

import io.bpf4j.sys.Descriptor;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * An attached program. The link belongs to the caller that attached it; closing it detaches. <i>Thread-safe.</i>
 *
 * <p>A link stays attached if the object of its program is closed first: the kernel keeps the program as long as the
 * link exists.
 *
 * <p>Most links are one link in the kernel, and can be queried, updated, detached and pinned. Exceptions are links of
 * several perf events or USDT probes, links attached by ioctl on kernels without perf links (before 5.15), and programs
 * that are attached without a link of the kernel: filters of traffic control, sockets, infrared receivers, XDP and
 * control groups if asked for, and socket maps on kernels without sockmap links (before 6.10). Such a program <b>stays
 * attached if the process ends without closing this</b>, but for that of a socket; it can be updated and detached.
 * Operations that are not supported throw {@link UnsupportedOperationException}. The link of an extension ({@code
 * SectionAttacher}) throws it, too, for operations that the extension does not implement.
 */
public interface Link extends AutoCloseable {
    /** Program and target, for messages: {@code on_gc to uprobes in …/libjvm.so}. */
    String description();

    boolean isClosed();

    /**
     * The kernel's current information about the link.
     *
     * @throws IllegalStateException if the link is closed
     */
    default LinkInfo info() {
        throw notOneLink("queried");
    }

    /**
     * The sites of a link of many uprobes (Linux 6.8) or kprobes (Linux 6.6), in the kernel's order. {@link #info} has
     * the file and the process.
     *
     * @throws UnsupportedOperationException if the link is of another kind, or the kernel does not report the sites
     * @throws IllegalStateException if the link is closed
     */
    default List<Site> sites() {
        throw notOneLink("queried");
    }

    /**
     * A site of a link of many uprobes or kprobes.
     *
     * @param place for a uprobe, the offset of the site in the file, in bytes; for a kprobe, its address, or 0 if the
     *     kernel hides addresses (sysctl kernel.kptr_restrict)
     * @param refCounterOffset for a uprobe, the offset of its semaphore in the file, in bytes; 0 for none
     * @param cookie 0 for none; the kernel reports the cookies of kprobes since Linux 6.9
     */
    record Site(long place, long refCounterOffset, long cookie) {}

    /**
     * Replaces the link's program atomically: no packet or call is missed. The new program must have the same type and
     * attach type. The kernel supports this for XDP, tcx, netkit, control groups, network namespaces, socket maps and
     * iterators; for others it returns EINVAL or EOPNOTSUPP.
     *
     * @param program still belongs to its object
     * @throws io.bpf4j.loader.error.AttachException if the kernel refuses; the old program stays
     */
    default void update(ProgramHandle program) {
        throw notOneLink("updated");
    }

    /**
     * As {@link #update(ProgramHandle)}, but only if the link still has the expected program.
     *
     * @throws io.bpf4j.loader.error.AttachException also if the link has another program (EPERM)
     */
    default void update(ProgramHandle program, ProgramHandle expected) {
        throw notOneLink("updated");
    }

    /**
     * Detaches the program. The link stays open, and can still be queried (Linux 5.9). Unlike {@link #close} this also
     * detaches a link that is pinned or open in another process. The kernel supports this for XDP, tcx, netkit,
     * netfilter, control groups, network namespaces, socket maps and struct_ops.
     *
     * @throws io.bpf4j.loader.error.AttachException for others (EOPNOTSUPP)
     */
    default void detach() {
        throw notOneLink("detached without being closed");
    }

    /**
     * Pins the link in a BPF file system, so that it outlives this process: closing the link then no longer detaches.
     *
     * @param path must not exist yet, nor have a dot in its last part; must be in a mounted BPF file system. The last
     *     directory of the path is created if it does not exist
     * @throws io.bpf4j.sys.SyscallException if the path already exists or is not in a BPF file system; the
     *     message says which
     */
    default void pin(Path path) {
        throw notOneLink("pinned");
    }

    /**
     * Removes a pin. The program stays attached until this link is closed, too.
     *
     * @return whether the pin existed
     * @throws IllegalArgumentException if the path is the pin of another object
     */
    default boolean unpin(Path path) {
        throw notOneLink("pinned");
    }

    /**
     * A descriptor of the link for other code, or for another process. The caller must close it. The program stays
     * attached as long as this link or one of its descriptors is open.
     *
     * @throws IllegalStateException if the link is closed
     */
    default Descriptor descriptor() {
        throw notOneLink("handed out by a descriptor");
    }

    /**
     * Detaches. May wait until the program no longer runs on any CPU: tens of milliseconds for uprobes, whatever the
     * number of sites. A second call does nothing. Closing a pinned link only closes its file descriptor.
     */
    @Override
    void close();

    /**
     * As {@link #close}, but on a new thread: {@link #isClosed} is true at once, while the remaining sites may still
     * fire. This helps if many sites have a perf event each, because the kernel takes about 0.1 s for each. The object
     * of the programs may safely be closed meanwhile, because the kernel keeps its maps; but the last events can no
     * longer be read.
     *
     * <p>The thread is a daemon: if the process ends first, the kernel closes the rest before the process is gone. If
     * the process may not start another thread, all links are closed before this returns.
     *
     * @return the progress; if an earlier call or {@link #close} began closing, the progress of that call
     */
    Closing closeAsync();

    private UnsupportedOperationException notOneLink(String operation) {
        return new UnsupportedOperationException(
                description() + " is not a single link of the kernel, so it can't be " + operation);
    }

    /**
     * The progress of closing a link. <i>Thread-safe.</i>
     *
     * <p>The kernel takes about a tenth of a second to detach each perf uprobe, one after the other, even if several
     * threads close them: five hundred sites take a minute. A caller that does not want to wait uses {@link
     * Link#closeAsync}.
     *
     * <p>The stage completes when all links are closed and all clean-up steps are done. If a step failed, it completes
     * with the first failure; further failures are suppressed exceptions. A failure does not skip the remaining steps.
     */
    interface Closing extends CompletionStage<Void> {
        /** The number of links to close: all links of a group, or 1. */
        int total();

        /** The number of links that are not closed yet. */
        int left();
    }
}
