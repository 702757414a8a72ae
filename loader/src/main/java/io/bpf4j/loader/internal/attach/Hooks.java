package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;
import java.util.Optional;

/**
 * Hooks of network devices and namespaces, of netfilter, control groups and socket maps: an attach type and what has
 * the hook; where programs have an order, also a {@link Place} in it.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
final class Hooks {
    private static final StructLayout NETFILTER =
            StructLayout.of("bpf_attr.link_create.netfilter", "u32 pf, hooknum, priority, flags");

    /** BPF_F_NETFILTER_IP_DEFRAG. */
    private static final int DEFRAGMENT = 1;

    private Hooks() {}

    /** Packets that a network device receives, before the network stack. */
    static Link xdp(Attempt attempt, AttachTarget.Xdp target) {
        return attempt.link(attempt.create(AttachType.XDP, LinkCommand.Details.NONE)
                .withTarget(attempt.index(target.device()))
                .withFlags(target.mode().flag()));
    }

    static Link tcx(Attempt attempt, AttachTarget.Tcx target) {
        AttachType type = target.isIngress() ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
        return device(attempt, target.device(), type, target.anchor());
    }

    static Link netkit(Attempt attempt, AttachTarget.Netkit target) {
        AttachType type = target.isPeer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY;
        return device(attempt, target.device(), type, target.anchor());
    }

    private static Link device(Attempt attempt, NetDevice device, AttachType type, Anchor anchor) {
        Place place = Place.of(anchor);
        return attempt.link(attempt.create(type, place.details())
                .withTarget(attempt.index(device))
                .withFlags(place.flags()));
    }

    static Link netfilter(Attempt attempt, AttachTarget.Netfilter target) {
        int flags = target.defragments() ? DEFRAGMENT : 0;
        return attempt.link(attempt.create(
                AttachType.NETFILTER,
                LinkCommand.Details.of(NETFILTER, target.family(), target.hook().number(), target.priority(), flags)));
    }

    static Link netNamespace(Attempt attempt, AttachTarget.NetNamespace target) {
        AttachType type = attempt.type(Optional.empty(), "sk_lookup or flow_dissector");
        try (Fd namespace = attempt.open(target.file())) {
            return attempt.link(attempt.create(type, LinkCommand.Details.NONE).withTarget(namespace));
        }
    }

    /** Control groups of version 2. */
    static Link cgroup(Attempt attempt, AttachTarget.Cgroup target) {
        AttachType type = attempt.type(target.attachType(), "cgroup/…");
        Place place = Place.of(target.anchor());
        try (Fd group = attempt.open(target.directory())) {
            return attempt.link(
                    attempt.create(type, place.details()).withTarget(group).withFlags(place.flags()));
        }
    }

    /** By a link if the kernel has links for these maps (6.10, commit 699c23f02c65), else without a link. */
    static Link sockmap(Attempt attempt, AttachTarget.Sockmap target) {
        AttachType type = attempt.type(target.attachType(), "sk_msg or sk_skb/…");
        Fd map = KernelMap.of(target.map()).fd();
        return Unlinked.orElse(
                attempt, attempt.create(type, LinkCommand.Details.NONE).withTarget(map), map, type);
    }
}
