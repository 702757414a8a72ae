package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.NetNamespace;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * Network namespaces.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record NetNamespaceKind(NetNamespace target) implements LinkKind {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.netns", "u32 netns_ino, attach_type");

    static final LinkView VIEW = LinkView.of(
            5 /* BPF_LINK_TYPE_NETNS */,
            info -> new LinkDetail.NetNamespace(
                    info.u32(INFO, "netns_ino"), AttachType.of(info.u32(INFO, "attach_type"))));

    @Override
    public Link attach(AttachRequest request) {
        AttachType type = request.requiredType(target.attachType(), "sk_lookup or flow_dissector");
        return request.through(
                target.file(),
                namespace -> request.link(
                        request.create(type, LinkCommand.Details.NONE).withTarget(namespace)));
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EEXIST, E2BIG ->
                "; the namespace has the maximum number of such programs: 1 flow dissector, 64 sk_lookup";
            case EINVAL -> "; the file is not a network namespace";
            default -> "";
        };
    }
}
