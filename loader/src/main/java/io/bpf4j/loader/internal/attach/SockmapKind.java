package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * Socket maps: by a link if the kernel supports links for these maps (6.10, commit 699c23f02c65), else without a link.
 *
 * <p>Tested by {@code KernelLinkTest} and {@code HooksOnKernelTest}.
 */
record SockmapKind(Sockmap target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.sockmap", "u32 map_id, attach_type");

    static final LinkView VIEW = LinkView.of(
            14 /* BPF_LINK_TYPE_SOCKMAP */,
            info -> new LinkDetail.Sockmap(info.u32(INFO, "map_id"), AttachType.of(info.u32(INFO, "attach_type"))));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.requiredType(target.attachType(), "sk_msg or sk_skb/…");
        Fd map = KernelMap.of(target.map()).fd();
        return ProgAttach.orElse(
                request, request.create(type, LinkCommand.Details.NONE).withTarget(map), map, type);
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EOPNOTSUPP -> "; a map of this type does not accept programs of this type";
            case EBUSY -> "; the map already has a program of this attach type";
            default -> "";
        };
    }
}
