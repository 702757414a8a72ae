package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.attach.LinkView.Opener;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.BpfFs;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.LinkCommand;
import io.bpf4j.loader.internal.sys.ObjectCommand;
import io.bpf4j.loader.kernel.AttachType;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.StructOpsLink;
import java.nio.file.Path;

/** Links that exist without an attach by this object: pinned links, links of other processes, and links of maps. */
public final class OpenLinks {
    private OpenLinks() {}

    public static Link pinned(Kernel kernel, Path path) {
        return adopt(kernel, "link pinned at " + path, BpfFs.open(kernel, path, ObjectCommand.Kind.LINK, 0));
    }

    public static Link byId(Kernel kernel, int id) {
        return adopt(kernel, "link " + id, kernel.execute(new ObjectCommand.FdById(ObjectCommand.Kind.LINK, id)));
    }

    /** Opens a link as its own Java type, because some kinds have more operations. Takes ownership. */
    private static Link adopt(Kernel kernel, String description, Fd link) {
        try {
            int type = kernel.execute(new ObjectCommand.InfoOfLink(link)).type();
            return LinkKinds.view(type)
                    .<Opener>map(LinkView::opener)
                    .orElse(KernelLink::new)
                    .open(kernel, description, link);
        } catch (RuntimeException e) {
            link.close();
            throw e;
        }
    }

    /**
     * Attaches a struct_ops map.
     *
     * @throws AttachException if the attach fails
     */
    public static StructOpsLink structOps(KernelMap map) {
        String what = "struct_ops map \"" + map.name() + "\"";
        try {
            // The map takes the field of the program in links of other types.
            Fd link = map.kernel()
                    .execute(LinkCommand.Create.of(
                            what, map.fd(), AttachType.STRUCT_OPS.number(), LinkCommand.Details.NONE));
            return new KernelStructOpsLink(map.kernel(), what, link);
        } catch (SyscallException e) {
            throw new AttachException(
                    "attach " + what + ": " + e.getMessage()
                            + switch (e.errno()) {
                                case EINVAL ->
                                    "; links of such maps take Linux 6.4, and a map made with BPF_F_LINK and given its value";
                                case EEXIST -> "; the kernel has one of that name";
                                default -> "";
                            },
                    e);
        }
    }
}
