package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.Netfilter;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * Hooks of netfilter.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record NetfilterKind(Netfilter target) implements LinkKind {
    private static final StructLayout CREATE =
            StructLayout.of("bpf_attr.link_create.netfilter", "u32 pf, hooknum, priority, flags");
    private static final StructLayout INFO =
            StructLayout.of("bpf_link_info.netfilter", "u32 pf, hooknum, priority, flags");

    static final LinkView VIEW = LinkView.of(
            10 /* BPF_LINK_TYPE_NETFILTER */,
            info -> new LinkDetail.Netfilter(
                    info.u32(INFO, "pf"),
                    info.u32(INFO, "hooknum"),
                    info.u32(INFO, "priority"),
                    info.u32(INFO, "flags")));

    /** BPF_F_NETFILTER_IP_DEFRAG. */
    private static final int DEFRAGMENT = 1;

    @Override
    public Link attach(AttachRequest request) {
        int flags = target.defragments() ? DEFRAGMENT : 0;
        LinkCommand.Details details =
                LinkCommand.Details.of(CREATE, target.family(), target.hook().number(), target.priority(), flags);
        return request.link(request.create(AttachType.NETFILTER, details));
    }

    @Override
    public String refusal(Errno errno) {
        return switch (errno) {
            case EBUSY -> "; another BPF program has this priority at the hook";
            case EAFNOSUPPORT -> "; the supported families are 2 (IPv4) and 10 (IPv6)";
            case EPROTO -> "; the hook does not exist";
            case ERANGE -> "; the priority must not be INT_MIN or INT_MAX; with defragmentation it must be above -400";
            default -> "";
        };
    }
}
