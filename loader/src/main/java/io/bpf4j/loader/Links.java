package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.host.Host;
import io.bpf4j.loader.internal.attach.OpenLinks;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.map.BpfMap;
import java.nio.file.Path;
import java.util.List;

/**
 * Opens links that this process did not attach through a {@link Program}: pinned links, links of other processes, and
 * links of struct_ops maps.
 *
 * <pre>{@code
 * try (Link link = program.attach(new AttachTarget.Xdp(NetDevice.named("eth0")))) {
 *     link.pin(Path.of("/sys/fs/bpf/firewall"));
 * }
 * …
 * try (Link link = Links.open(Path.of("/sys/fs/bpf/firewall"))) {   // another process, later
 *     link.update(newProgram);
 * }
 * }</pre>
 */
public final class Links {
    private Links() {}

    /**
     * Opens a pinned link (Linux 5.7). The result is an {@link io.bpf4j.loader.link.IteratorLink} or {@link
     * StructOpsLink} if the link is of that kind.
     *
     * @return the caller's to close, which does not detach it as long as it is pinned
     * @throws SyscallException if the pin does not exist (ENOENT), among others
     * @throws IllegalArgumentException if the path is the pin of something else
     */
    public static Link open(Path path) {
        return OpenLinks.pinned(Host.running().kernel(), path);
    }

    /**
     * Opens a link of any process by the kernel's id (Linux 5.8). Needs CAP_SYS_ADMIN.
     *
     * @return the caller's to close
     * @throws SyscallException if the link does not exist (ENOENT), among others
     */
    public static Link byId(int id) {
        return OpenLinks.byId(Host.running().kernel(), id);
    }

    /** The kernel's ids of all existing links, ascending (Linux 5.8). Needs CAP_SYS_ADMIN. */
    public static List<Integer> ids() {
        return OpenLinks.ids(Host.running().kernel());
    }

    /**
     * Attaches a struct_ops map: from now on the kernel calls its programs (Linux 6.4).
     *
     * @param map created with {@code BPF_F_LINK}, its value set; it still belongs to its object
     * @throws AttachException if the kernel refuses
     */
    public static StructOpsLink attach(BpfMap map) {
        return OpenLinks.structOps(KernelMap.of(map));
    }
}
