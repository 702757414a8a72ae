package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.KernelVersion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * Lists the programs that are attached to a target. bpf_prog_query() of kernel/bpf/syscall.c (6.18) has the kinds of
 * targets that the kernel supports.
 *
 * <p>Tested by {@code HookQueryTest} and {@code AttachedProgramsOnKernelTest}.
 */
public final class HookQuery {
    /** The most programs of one hook: of tcx and netkit (BPF_MPROG_MAX), and of a cgroup (BPF_CGROUP_MAX_PROGS). */
    private static final int ROOM = 64;

    /**
     * A cgroup with its ancestors, or with all LSM hooks, may have more programs than {@link #ROOM}, and other
     * processes may attach programs between two calls.
     */
    private static final int ATTEMPTS = 8;

    private static final int MOST = 1 << 20;

    private final Kernel kernel;
    private final AttachTarget target;
    private final AttachType type;
    private final boolean effective;
    private final boolean withLinks;
    private boolean withFlags;

    private HookQuery(Kernel kernel, AttachTarget target, AttachType type, boolean effective) {
        this.kernel = kernel;
        this.target = target;
        this.type = type;
        this.effective = effective;
        // The kernel refuses to report the flags of effective programs. Only tcx and netkit report links.
        this.withFlags = target instanceof Cgroup && !effective;
        this.withLinks = target instanceof Tcx || target instanceof Netkit;
    }

    /**
     * The programs of a target.
     *
     * @param effective for control groups: the programs that run for the group, not those attached to it
     */
    public static AttachedPrograms of(Host host, AttachTarget target, boolean effective) {
        Kernel kernel = Kernel.of(host);
        switch (target) {
            case Xdp xdp -> {
                try (XdpHook hook = XdpHook.open(kernel, xdp)) {
                    return new AttachedPrograms(hook.programs(), 0, 0);
                }
            }
            case Tc filters -> {
                try (TcHook hook = TcHook.open(kernel, filters)) {
                    return new AttachedPrograms(
                            hook.programs().stream()
                                    .map(id -> new AttachedPrograms.Entry(id, OptionalInt.empty(), 0))
                                    .toList(),
                            0,
                            0);
                }
            }
            default -> {}
        }
        HookQuery query = new HookQuery(kernel, target, type(target), effective);
        try {
            return query.run();
        } catch (SyscallException e) {
            throw FailureHints.withHint(e, query.hint(e, host));
        }
    }

    /** The programs of an open control group. */
    static AttachedPrograms ofGroup(Kernel kernel, Fd group, AttachType type) {
        AttachTarget target = Cgroup.of(Path.of(group.description()));
        return new HookQuery(kernel, target, type, false).programs(group, 0);
    }

    private static AttachType type(AttachTarget target) {
        Optional<AttachType> type = switch (target) {
            case Cgroup group -> group.attachType();
            case NetNamespace namespace -> namespace.attachType();
            case Sockmap sockets -> sockets.attachType();
            case Tcx tcx -> Optional.of(tcx.isIngress() ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS);
            case Netkit netkit -> Optional.of(netkit.isPeer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY);
            case Lirc _ -> Optional.of(AttachType.LIRC_MODE2);
            default ->
                throw new IllegalArgumentException("BPF_PROG_QUERY does not support " + target.description()
                        + ", only control groups, XDP, tcx, filters of traffic control, netkit, network namespaces, socket"
                        + " maps and infrared receivers;"
                        + " Links.ids lists all links");
        };
        return type.orElseThrow(
                () -> new IllegalArgumentException("programs of several attach types can be attached to "
                        + target.description() + "; choose one by the target's withAttachType"));
    }

    private AttachedPrograms run() {
        return switch (target) {
            case Cgroup group -> ofFile(group.directory());
            case NetNamespace namespace -> ofFile(namespace.file());
            case Lirc receiver -> ofFile(receiver.device());
            case Sockmap sockets -> programs(KernelMap.of(sockets.map()).fd(), 0);
            case Tcx tcx -> programs(null, index(tcx.device()));
            case Netkit netkit -> programs(null, index(netkit.device()));
            default -> throw new IllegalStateException(target.description());
        };
    }

    /** Without waiting: an open of a receiver's device may wait, and the path may be a FIFO instead. */
    private AttachedPrograms ofFile(Path path) {
        try (Fd file = kernel.execute(new FileCommand.Open(path, OpenFlags.RDONLY | OpenFlags.NONBLOCK))) {
            return programs(file, 0);
        }
    }

    private int index(NetDevice device) {
        return AttachRequest.index(kernel, device);
    }

    /** Repeats the query with more room as long as there are more programs than room. */
    private AttachedPrograms programs(@Nullable Fd file, int index) {
        int room = ROOM;
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            LinkCommand.Query.Attached answer = ask(file, index, room);
            long count = Integer.toUnsignedLong(answer.count());
            if (count <= room) {
                return programs(answer);
            }
            room = (int) Math.min(MOST, 2 * count);
        }
        throw new BpfException("listing the programs of " + target.description()
                + " failed: their number grew between all attempts; try again");
    }

    private LinkCommand.Query.Attached ask(@Nullable Fd file, int index, int room) {
        try {
            return kernel.execute(query(file, index, room));
        } catch (SyscallException e) {
            if (!withFlags || e.errno() != Errno.EINVAL) {
                throw e;
            }
            withFlags = false; // Linux before 6.0
            return kernel.execute(query(file, index, room));
        }
    }

    private LinkCommand.Query query(@Nullable Fd file, int index, int room) {
        String description = target.description() + " for " + type;
        return new LinkCommand.Query(description, file, index, type.number(), effective, withFlags, withLinks, room);
    }

    private static AttachedPrograms programs(LinkCommand.Query.Attached answer) {
        List<AttachedPrograms.Entry> programs = new ArrayList<>();
        for (int i = 0; i < answer.programs().length; i++) {
            programs.add(new AttachedPrograms.Entry(
                    answer.programs()[i], Struct.unlessZero(at(answer.links(), i)), at(answer.programFlags(), i)));
        }
        return new AttachedPrograms(List.copyOf(programs), answer.flags(), answer.revision());
    }

    private static int at(int[] values, int index) {
        return index < values.length ? values[index] : 0;
    }

    private @Nullable String hint(SyscallException e, Host host) {
        KernelVersion since = since();
        if (e.errno() == Errno.EINVAL && host.version().compareTo(since) < 0) {
            return "the query needs Linux " + since + ", but this is Linux " + host.version();
        }
        return switch (target) {
            case Cgroup _ ->
                switch (e.errno()) {
                    case EBADF -> "the directory is not a control group of version 2";
                    case EINVAL -> "programs of this attach type can't be attached to control groups";
                    default -> null;
                };
            case NetNamespace _ ->
                e.errno() == Errno.EINVAL
                        ? "the file is not a network namespace, or does not take programs of this attach type"
                        : null;
            case Sockmap _ ->
                switch (e.errno()) {
                    case EOPNOTSUPP, EINVAL -> "programs of this attach type can't be attached to a map of this type";
                    default -> null;
                };
            case Lirc _ -> e.errno() == Errno.EINVAL ? "the file is not an infrared receiver" : null;
            default ->
                switch (e.errno()) {
                    case ENODEV -> "the device does not exist";
                    case ENXIO -> "the device is not a netkit device";
                    case EACCES -> "the device is not the primary one of its pair";
                    default -> null;
                };
        };
    }

    /**
     * The first kernel that answers for the target. Commits 468e2f64d220 (cgroup), f4364dcfc86d (lirc), 118c8e9ae629
     * (flow dissector), e9ddbb7707ff (sk_lookup), b79c9fc9551b (LSM), 748cd5729ac7 (socket maps), e420bed02507 (tcx),
     * 35dfaad7188c (netkit).
     */
    private KernelVersion since() {
        return switch (type) {
            case LSM_CGROUP -> KernelVersion.of(6, 0);
            case LIRC_MODE2 -> KernelVersion.of(4, 18);
            case FLOW_DISSECTOR -> KernelVersion.of(5, 3);
            case SK_LOOKUP -> KernelVersion.of(5, 9);
            case TCX_INGRESS, TCX_EGRESS -> KernelVersion.of(6, 6);
            case NETKIT_PRIMARY, NETKIT_PEER -> KernelVersion.of(6, 7);
            default -> target instanceof Sockmap ? KernelVersion.of(5, 18) : KernelVersion.of(4, 15);
        };
    }
}
