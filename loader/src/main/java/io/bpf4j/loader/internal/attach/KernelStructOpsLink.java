package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.StructLayout;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.map.BpfMap;

/** An attached struct_ops map. <i>Thread-safe.</i> */
final class KernelStructOpsLink extends KernelLink implements StructOpsLink {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.struct_ops", "u32 map_id");

    static final LinkView VIEW = LinkView.of(
                    9 /* BPF_LINK_TYPE_STRUCT_OPS */, info -> new LinkDetail.StructOps(info.u32(INFO, "map_id")))
            .withOpener(KernelStructOpsLink::new);

    KernelStructOpsLink(Kernel kernel, String description, Fd link) {
        super(kernel, description, link);
    }

    @Override
    public void update(BpfMap map) {
        update(KernelMap.of(map).fd(), null);
    }
}
