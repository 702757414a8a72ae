package io.bpf4j.loader;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.attach.Detaching;
import io.bpf4j.loader.internal.attach.GroupTree;
import io.bpf4j.loader.internal.attach.HookQuery;
import io.bpf4j.loader.internal.attach.OpenLinks;
import io.bpf4j.loader.internal.attach.OpenProbes;
import io.bpf4j.loader.internal.attach.StructOpsKind;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.OpenProbe;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.ObjectCommand.Kind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.SequencedMap;

/**
 * Opens links that this process did not attach through a {@link Program}: pinned links, links of other processes, and
 * links of struct_ops maps. Lists the programs that are attached to a target. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (Link link = program.attach(Xdp.on(NetDevice.named("eth0")))) {
 *     link.pin(Path.of("/sys/fs/bpf/firewall"));
 * }
 * …
 * try (Link link = Links.pinned(Path.of("/sys/fs/bpf/firewall"))) {   // another process, later
 *     link.update(newProgram);
 * }
 * }</pre>
 */
public final class Links {
    private Links() {}

    /** {@link #pinned(Host, Path)} on the running machine. */
    public static Link pinned(Path path) {
        return pinned(Host.running(), path);
    }

    /**
     * Opens a pinned link (Linux 5.7). The result is an {@link io.bpf4j.loader.link.IteratorLink} or {@link
     * StructOpsLink} if the link is of that kind.
     *
     * @return the link, which the caller must close; closing does not detach it as long as it is pinned
     * @throws SyscallException if the pin does not exist (ENOENT), among others
     * @throws IllegalArgumentException if the path is the pin of something else
     */
    public static Link pinned(Host host, Path path) {
        return OpenLinks.pinned(Kernel.of(host), path);
    }

    /** {@link #byId(Host, int)} on the running machine. */
    public static Link byId(int id) {
        return byId(Host.running(), id);
    }

    /**
     * Opens a link of any process by the kernel's id (Linux 5.8). Needs CAP_SYS_ADMIN.
     *
     * @return the link, which the caller must close
     * @throws SyscallException if the link does not exist (ENOENT), among others
     */
    public static Link byId(Host host, int id) {
        return OpenLinks.byId(Kernel.of(host), id);
    }

    /** {@link #takeOver(Host, int)} on the running machine. */
    public static Link takeOver(int descriptor) {
        return takeOver(Host.running(), descriptor);
    }

    /**
     * Takes over a file descriptor of this process that refers to a link: one that was inherited, such as systemd's
     * (LISTEN_FDS, from number 3), or that other code has received by SCM_RIGHTS. The number is closed, and the link
     * has its own descriptor, which exec closes. After a failure the descriptor still belongs to the caller.
     *
     * @param descriptor belongs to the caller alone, and not to other code of this process
     * @return the link, which the caller must close
     * @throws IllegalArgumentException if it is not a BPF link
     * @throws io.bpf4j.sys.SyscallException EBADF if the number is not open, among others
     */
    public static Link takeOver(Host host, int descriptor) {
        return OpenLinks.takeOver(Kernel.of(host), descriptor);
    }

    /** {@link #ids(Host)} on the running machine. */
    public static List<Integer> ids() {
        return ids(Host.running());
    }

    /** The kernel's ids of all existing links, ascending (Linux 5.8). Needs CAP_SYS_ADMIN. */
    public static List<Integer> ids(Host host) {
        return ids(Kernel.of(host), Kind.LINK);
    }

    static List<Integer> ids(Kernel kernel, Kind kind) {
        List<Integer> ids = new ArrayList<>();
        OptionalInt next = kernel.execute(new ObjectCommand.NextId(kind, 0));
        while (next.isPresent()) {
            ids.add(next.getAsInt());
            next = kernel.execute(new ObjectCommand.NextId(kind, next.getAsInt()));
        }
        return ids;
    }

    /** {@link #adopt(Host, int)} on the running machine. */
    public static LinkGroup adopt(int pid) throws IOException {
        return adopt(Host.running(), pid);
    }

    /**
     * Takes over all perf events and BPF links that another process has open, so that it can end before the kernel has
     * detached them (Linux 5.6). Descriptors that the process closes meanwhile are skipped.
     *
     * <p>The kernel detaches a perf uprobe when its last file descriptor is closed. This takes a tenth of a second for
     * each, one after the other. A process that ends closes its descriptors first, so it has to wait as well. If a
     * second process holds the same descriptors, the first process ends at once, and the second one waits instead.
     * Until then the programs stay attached and run.
     *
     * <p>Taking descriptors needs the rights of a debugger: the same user and the conditions of Yama's {@code
     * ptrace_scope}, or CAP_SYS_PTRACE.
     *
     * @return a link for each descriptor: one for a multi link, two for a perf uprobe with a link. The caller must
     *     close the group, which waits until the kernel has detached the links that no other process holds
     * @throws IOException if the process's descriptors can't be listed
     * @throws SyscallException if taking them is not permitted; no descriptor is taken then
     */
    public static LinkGroup adopt(Host host, int pid) throws IOException {
        return OpenLinks.ofProcess(host, pid);
    }

    /** {@link #attachedTo(Host, AttachTarget)} on the running machine. */
    public static AttachedPrograms attachedTo(AttachTarget target) {
        return attachedTo(Host.running(), target);
    }

    /**
     * The programs that are attached to a target, by any process, with or without a link. The target is a control
     * group, a network device (XDP), one direction of a network device (tcx, netkit, filters of traffic control), a
     * network namespace, a socket map or an infrared receiver. An anchor in the target has no effect; a mode of XDP, and
     * a priority and a handle of filters, choose among the programs. Needs CAP_NET_ADMIN, but for XDP and filters.
     *
     * <pre>{@code
     * Tcx ingress = Tcx.ingress(NetDevice.named("eth0"));
     * AttachedPrograms now = Links.attachedTo(ingress);
     * if (now.programs().isEmpty()) {
     *     program.attach(ingress.withAnchor(Anchor.first().atRevision(now.revision())));   // only if it is still empty
     * }
     * }</pre>
     *
     * <p>Control groups need Linux 4.15 (6.0 for LSM programs), receivers 4.18, network namespaces 5.3 (flow dissector)
     * and 5.9 (sk_lookup), socket maps 5.18, tcx 6.6, netkit 6.7.
     *
     * @param target with an attach type, if programs of several attach types can be attached to it
     * @throws IllegalArgumentException if the target needs an attach type and has none, or if the kernel has no query
     *     for such a target: probes and tracepoints, netfilter, sockets
     * @throws SyscallException if the target does not exist or is something else, or this process lacks the right
     * @throws io.bpf4j.sys.BpfException if other processes attach programs faster than they can be listed
     */
    public static AttachedPrograms attachedTo(Host host, AttachTarget target) {
        return HookQuery.of(host, target, false);
    }

    /** {@link #detach(Host, AttachTarget, ProgramHandle)} on the running machine. */
    public static boolean detach(AttachTarget target, ProgramHandle program) {
        return detach(Host.running(), target, program);
    }

    /**
     * Detaches a program that any process has attached without a link, such as one that ended before it could: from a
     * control group, the XDP of a device, the filters of one of its directions, a socket map or an infrared receiver. An
     * empty qdisc is left behind. {@link Tc} and {@link Cgroup#withoutLink} say what happens if
     * another process replaces the program at the same time.
     *
     * <pre>{@code
     * Tc ingress = Tc.ingress(NetDevice.named("eth0")).withPriority(7);
     * for (AttachedPrograms.Entry entry : Links.attachedTo(ingress).programs()) {
     *     try (Program old = Programs.byId(entry.programId())) {
     *         Links.detach(ingress, old);
     *     }
     * }
     * }</pre>
     *
     * @param target as for {@link #attachedTo(Host, AttachTarget)}
     * @param program still belongs to its owner; {@link Programs#byId} opens that of another process
     * @return false if it is not attached there without a link
     * @throws IllegalArgumentException if programs are not attached to such a target without a link, or the target needs
     *     an attach type and has none
     * @throws SyscallException if the target does not exist, or this process lacks the right
     */
    public static boolean detach(Host host, AttachTarget target, ProgramHandle program) {
        return Detaching.detach(host, target, program);
    }

    /** {@link #effectiveIn(Host, Cgroup)} on the running machine. */
    public static AttachedPrograms effectiveIn(Cgroup group) {
        return effectiveIn(Host.running(), group);
    }

    /**
     * The programs that run for a control group, in the order in which they run: its own and those of its ancestors.
     * The kernel reports neither their flags nor a revision. Otherwise as {@link #attachedTo(Host, AttachTarget)}.
     */
    public static AttachedPrograms effectiveIn(Host host, Cgroup group) {
        return HookQuery.of(host, group, true);
    }

    /** {@link #attachedBelow(Host, Cgroup)} on the running machine. */
    public static SequencedMap<Path, AttachedPrograms> attachedBelow(Cgroup group) throws IOException {
        return attachedBelow(Host.running(), group);
    }

    /**
     * The programs that are attached to a control group and to each group below it, by the group's directory. A group
     * comes before those below it; groups without programs of the attach type are left out, and so are groups that are
     * removed meanwhile. Otherwise as {@link #attachedTo(Host, AttachTarget)}, once for each group.
     *
     * @throws IOException if the groups below one can't be listed
     */
    public static SequencedMap<Path, AttachedPrograms> attachedBelow(Host host, Cgroup group) throws IOException {
        return GroupTree.attached(host, group);
    }

    /** {@link #openProbes(Host, int)} on the running machine. */
    public static List<OpenProbe> openProbes(int pid) throws IOException {
        return openProbes(Host.running(), pid);
    }

    /**
     * The descriptors of a process that are probes with a program (Linux 4.18): perf events of tracepoints, kprobes and
     * uprobes, and links of raw tracepoints. {@link #ids(Host)} lists links of all kinds. Descriptors that the process
     * closes meanwhile are skipped, and those that a thread other than the first has for itself alone, after
     * unshare(CLONE_FILES). Needs CAP_SYS_ADMIN.
     *
     * @param pid in the pid namespace of this process
     * @throws IOException if the descriptors of the process can't be listed
     * @throws SyscallException if this process lacks the right
     */
    public static List<OpenProbe> openProbes(Host host, int pid) throws IOException {
        return OpenProbes.all(host, pid);
    }

    /** {@link #openProbe(Host, int, int)} on the running machine. */
    public static OpenProbe openProbe(int pid, int descriptor) {
        return openProbe(Host.running(), pid, descriptor);
    }

    /**
     * One probe of {@link #openProbes(Host, int)}, by its descriptor (Linux 4.18). Needs CAP_SYS_ADMIN.
     *
     * @param pid in the pid namespace of this process
     * @param descriptor its number in that process
     * @throws SyscallException if the process (ENOENT) or the descriptor (EBADF) does not exist, if the descriptor is
     *     not a probe (ENOTSUPP, EOPNOTSUPP), or if this process lacks the right
     */
    public static OpenProbe openProbe(Host host, int pid, int descriptor) {
        return OpenProbes.of(host, pid, descriptor);
    }

    /**
     * Attaches a struct_ops map: from now on the kernel calls its programs (Linux 6.4).
     *
     * @param map created with {@code BPF_F_LINK}, its value set; it still belongs to its object
     * @throws AttachException if the kernel refuses
     */
    public static StructOpsLink attach(BpfMap map) {
        return StructOpsKind.link(KernelMap.of(map));
    }
}
