package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Anchor;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.NetDevice;
import io.bpf4j.loader.link.Netkit;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Tcx;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import org.jspecify.annotations.Nullable;

/**
 * Traffic control of network devices, and pairs of netkit devices: programs in an order.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code HooksOnKernelTest}.
 */
record DeviceKind(
        NetDevice device,
        AttachType type,
        Anchor anchor,
        @Nullable Tc fallback) implements LinkKind {
    private static final StructLayout TCX_INFO = StructLayout.of("bpf_link_info.tcx", "u32 ifindex, attach_type");
    private static final StructLayout NETKIT_INFO = StructLayout.of("bpf_link_info.netkit", "u32 ifindex, attach_type");

    static final LinkView TCX_VIEW = LinkView.of(
            11 /* BPF_LINK_TYPE_TCX */,
            info -> new LinkDetail.Tcx(
                    info.u32(TCX_INFO, "ifindex"), AttachType.of(info.u32(TCX_INFO, "attach_type"))));

    static final LinkView NETKIT_VIEW = LinkView.of(
            13 /* BPF_LINK_TYPE_NETKIT */,
            info -> new LinkDetail.Netkit(
                    info.u32(NETKIT_INFO, "ifindex"), AttachType.of(info.u32(NETKIT_INFO, "attach_type"))));

    static LinkKind of(Tcx target) {
        AttachType type = target.isIngress() ? AttachType.TCX_INGRESS : AttachType.TCX_EGRESS;
        Tc filter = target.isIngress() ? Tc.ingress(target.device()) : Tc.egress(target.device());
        return new DeviceKind(target.device(), type, target.anchor(), target.hasFilterFallback() ? filter : null);
    }

    static LinkKind of(Netkit target) {
        AttachType type = target.isPeer() ? AttachType.NETKIT_PEER : AttachType.NETKIT_PRIMARY;
        return new DeviceKind(target.device(), type, target.anchor(), null);
    }

    @Override
    public Link attach(AttachRequest request) {
        AnchorFields order = AnchorFields.of(anchor);
        try {
            return request.link(request.create(type, order.details())
                    .withTarget(request.index(device))
                    .withFlags(order.flags()));
        } catch (SyscallException refused) {
            if (fallback == null || !anchor.isDefault() || refused.errno() != Errno.EINVAL) {
                throw refused;
            }
            try {
                return new TcKind(fallback).attach(request);
            } catch (RuntimeException e) {
                e.addSuppressed(refused);
                throw e;
            }
        }
    }

    @Override
    public String refusal(Errno errno) {
        return AnchorFields.refusal(errno, anchor);
    }
}
