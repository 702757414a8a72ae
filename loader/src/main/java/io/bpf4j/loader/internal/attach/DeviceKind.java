package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.NetDevice;

/**
 * Traffic control of network devices, and pairs of netkit devices: programs in an order.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record DeviceKind(NetDevice device, AttachType type, Anchor anchor) implements LinkKind {
    static LinkKind of(AttachTarget.Tcx target) {
        AttachType type = target.isIngress() ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
        return new DeviceKind(target.device(), type, target.anchor());
    }

    static LinkKind of(AttachTarget.Netkit target) {
        AttachType type = target.isPeer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY;
        return new DeviceKind(target.device(), type, target.anchor());
    }

    @Override
    public Link attach(Attempt attempt) {
        Place place = Place.of(anchor);
        return attempt.link(attempt.create(type, place.details())
                .withTarget(attempt.index(device))
                .withFlags(place.flags()));
    }

    @Override
    public String refusal(Errno errno) {
        return Place.refusal(errno, anchor);
    }
}
