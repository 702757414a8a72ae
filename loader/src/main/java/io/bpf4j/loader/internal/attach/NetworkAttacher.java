package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.OpenFlags;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import java.nio.file.Path;
import java.util.Optional;

/** Attaches to what packets and sockets pass: devices, netfilter, network namespaces, control groups, maps of sockets. */
final class NetworkAttacher {
    /** BPF_F_NETFILTER_IP_DEFRAG. */
    private static final int DEFRAGMENT = 1;

    private NetworkAttacher() {}

    static Link xdp(Attempt attempt, AttachTarget.Xdp target) {
        return link(
                attempt,
                attempt.create(AttachType.XDP, new LinkCommand.Details.None())
                        .withTarget(index(attempt, target.device()))
                        .withFlags(target.mode().flag()));
    }

    static Link tcx(Attempt attempt, AttachTarget.Tcx target) {
        AttachType type = target.ingress() ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
        Place place = Place.of(target.anchor());
        return link(
                attempt,
                attempt.create(type, place.details())
                        .withTarget(index(attempt, target.device()))
                        .withFlags(place.flags()));
    }

    static Link netkit(Attempt attempt, AttachTarget.Netkit target) {
        AttachType type = target.peer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY;
        Place place = Place.of(target.anchor());
        return link(
                attempt,
                attempt.create(type, place.details())
                        .withTarget(index(attempt, target.device()))
                        .withFlags(place.flags()));
    }

    static Link netfilter(Attempt attempt, AttachTarget.Netfilter target) {
        return link(
                attempt,
                attempt.create(
                        AttachType.NETFILTER,
                        new LinkCommand.Details.Netfilter(
                                target.family(),
                                target.hook(),
                                target.priority(),
                                target.defragment() ? DEFRAGMENT : 0)));
    }

    static Link namespace(Attempt attempt, AttachTarget.NetNamespace target) {
        AttachType type = type(attempt, Optional.empty(), "sk_lookup or flow_dissector");
        try (Fd namespace = open(attempt, target.file())) {
            return link(
                    attempt,
                    attempt.create(type, new LinkCommand.Details.None()).withTarget(namespace));
        }
    }

    static Link cgroup(Attempt attempt, AttachTarget.Cgroup target) {
        AttachType type = type(attempt, target.attachType(), "cgroup/…");
        Place place = Place.of(target.anchor());
        try (Fd group = open(attempt, target.directory())) {
            return link(
                    attempt,
                    attempt.create(type, place.details()).withTarget(group).withFlags(place.flags()));
        }
    }

    /** By a link where the kernel has them for these maps (6.10, commit 699c23f02c65), else without. */
    static Link sockmap(Attempt attempt, AttachTarget.Sockmap target) {
        AttachType type = type(attempt, target.attachType(), "sk_msg or sk_skb/…");
        Fd map = KernelMap.of(target.map()).fd();
        return Unlinked.orElse(
                attempt, attempt.create(type, new LinkCommand.Details.None()).withTarget(map), map, type);
    }

    static Link lirc(Attempt attempt, AttachTarget.Lirc target) {
        try (Fd device = attempt.execute(new FileCommand.Open(target.device(), OpenFlags.RDWR | OpenFlags.NONBLOCK))) {
            return Unlinked.attach(attempt, device, AttachType.LIRC_MODE2);
        }
    }

    private static Link link(Attempt attempt, LinkCommand.Create create) {
        return KernelLink.of(attempt, attempt.execute(create));
    }

    private static int index(Attempt attempt, NetDevice device) {
        String name = device.name();
        return name == null ? device.index() : attempt.execute(new FileCommand.DeviceIndex(name));
    }

    private static Fd open(Attempt attempt, Path path) {
        return attempt.execute(new FileCommand.Open(path, OpenFlags.RDONLY));
    }

    private static AttachType type(Attempt attempt, Optional<AttachType> given, String section) {
        return given.or(attempt::attachType)
                .orElseThrow(() -> attempt.refused("the program was loaded for no attach type; SEC(\"" + section
                        + "\") says one, or the target may"));
    }
}
