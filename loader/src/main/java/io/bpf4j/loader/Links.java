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
 * Links that no {@link Program} here was attached to: those that are pinned, those of other processes, and those of
 * struct_ops maps.
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
     * Opens a pinned link (Linux 5.7). An {@link io.bpf4j.loader.link.IteratorLink} or {@link StructOpsLink} is given as
     * such.
     *
     * @return the caller's to close, which does not detach it as long as it is pinned
     * @throws SyscallException if there is no pin (ENOENT, among others)
     * @throws IllegalArgumentException if it is the pin of something else
     */
    public static Link open(Path path) {
        return OpenLinks.pinned(Host.running().kernel(), path);
    }

    /**
     * Opens a link by the kernel's id (Linux 5.8), whoever holds it. It takes CAP_SYS_ADMIN.
     *
     * @return the caller's to close
     * @throws SyscallException if there is none (ENOENT, among others)
     */
    public static Link byId(int id) {
        return OpenLinks.byId(Host.running().kernel(), id);
    }

    /** The kernel's ids of all links there are, ascending (Linux 5.8). It takes CAP_SYS_ADMIN. */
    public static List<Integer> ids() {
        return OpenLinks.ids(Host.running().kernel());
    }

    /**
     * Attaches a struct_ops map: from here on the kernel calls its functions (Linux 6.4).
     *
     * @param map made with {@code BPF_F_LINK}, its value set; it stays its object's
     * @throws AttachException if it can't
     */
    public static StructOpsLink attach(BpfMap map) {
        return OpenLinks.structOps(KernelMap.of(map));
    }
}
