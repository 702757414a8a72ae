package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * XDP: packets that a network device receives, before the network stack.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record XdpKind(Xdp target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.xdp", "u32 ifindex");

    static final LinkView VIEW =
            LinkView.of(6 /* BPF_LINK_TYPE_XDP */, info -> new LinkDetail.Xdp(info.u32(INFO, "ifindex")));

    @Override
    public Link attach(AttachRequest request) {
        if (target.replaced().isPresent()) {
            throw request.refused(
                    "a link replaces no program; choose Xdp.withoutLink, or update the link that is there");
        }
        return request.link(request.create(AttachType.XDP, LinkCommand.Details.NONE)
                .withTarget(request.index(target.device()))
                .withFlags(target.mode().flag()));
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EBUSY -> "; the device already has an XDP program; ip link show lists it";
            case EOPNOTSUPP -> "; the driver does not support it: Xdp.Mode.GENERIC works with every device";
            case EINVAL ->
                "; the device does not exist, the program is not an XDP program, or the device's MTU is larger than"
                        + " the program supports (SEC(\"xdp.frags\") supports larger ones)";
            default -> "";
        };
    }

    /** Without a link, by netlink. */
    record Unlinked(Xdp target) implements LinkKind {
        @Override
        public Link attach(AttachRequest request) {
            return Attachment.of(request, XdpHook.open(request.kernel(), target));
        }

        @Override
        public String refusal(Errno errno) {
            return switch (errno) {
                case EBUSY -> "; ip link show lists the program of a device, and Xdp.replacing takes its place";
                case EEXIST -> "; the device does not have the program that is to be replaced";
                default -> "";
            };
        }
    }
}
