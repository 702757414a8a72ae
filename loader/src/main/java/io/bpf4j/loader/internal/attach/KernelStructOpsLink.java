package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.map.BpfMap;

/** A struct_ops map in use. <i>Thread-safe.</i> */
final class KernelStructOpsLink extends KernelLink implements StructOpsLink {
    KernelStructOpsLink(Kernel kernel, String description, Fd link) {
        super(kernel, description, link);
    }

    @Override
    public void update(BpfMap map) {
        update(KernelMap.of(map).fd(), null);
    }
}
