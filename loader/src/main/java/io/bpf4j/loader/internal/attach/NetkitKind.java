package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.KernelVersion;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;

/** Pairs of netkit devices. */
record NetkitKind(AttachTarget.Netkit target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.netkit", "u32 ifindex", "u32 attach_type");

    static final LinkView VIEW = LinkView.of(
            13 /* BPF_LINK_TYPE_NETKIT */,
            info -> new LinkDetail.Netkit(info.u32(INFO, "ifindex"), AttachType.of(info.u32(INFO, "attach_type"))));

    @Override
    public Link attach(Attempt attempt) {
        AttachType type = target.isPeer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY;
        Place place = Place.of(target.anchor());
        return attempt.link(attempt.create(type, place.details())
                .withTarget(attempt.index(target.device()))
                .withFlags(place.flags()));
    }

    @Override
    public String refusal(Errno errno) {
        return Place.refusal(errno, target.anchor());
    }

    @Override
    public KernelVersion since() {
        return KernelVersion.of(6, 7);
    }
}
