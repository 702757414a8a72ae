package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.internal.load.LoadedObject.LoadedProgram;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.plan.StructOpsImage;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkDetail;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.loader.link.StructOpsLink;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.StructLayout;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * struct_ops maps: writes the value of such a map, and attaches it. An object of this class is a link of such a map.
 * <i>Thread-safe.</i>
 *
 * <p>The value of a map of {@code SEC(".struct_ops.link")} is written once; links to it may then be created and closed.
 * A map of {@code SEC(".struct_ops")} is registered when its value is written, until its element is deleted.
 *
 * <p>Tested by {@code LinkTargetGoldenTest} and {@code StructOpsOnKernelTest}.
 */
public final class StructOpsKind extends KernelLink implements StructOpsLink {
    private static final StructLayout INFO = StructLayout.of("bpf_link_info.struct_ops", "u32 map_id");

    static final LinkView VIEW = LinkView.of(
                    9 /* BPF_LINK_TYPE_STRUCT_OPS */, info -> new LinkDetail.StructOps(info.u32(INFO, "map_id")))
            .withOpener(StructOpsKind::new);

    private static final byte[] ONLY_KEY = new byte[4];

    private StructOpsKind(Kernel kernel, String description, Fd link) {
        super(kernel, description, link);
    }

    @Override
    public void update(BpfMap map) {
        update(KernelMap.of(map).fd(), null);
    }

    /**
     * Attaches.
     *
     * @return for a map with a link a {@link io.bpf4j.loader.link.StructOpsLink}
     */
    public static Link attach(KernelMap map, StructOpsImage image, Map<String, LoadedProgram> programs) {
        prepare(map, image, programs);
        if (image.variable().isLinked()) {
            return link(map);
        }
        LinkGroup held = LinkGroup.inSequence("struct_ops map \"" + map.name() + "\"");
        held.afterClose(() -> map.delete(ONLY_KEY.clone()));
        return held;
    }

    /**
     * Attaches a map of {@code SEC(".struct_ops.link")} that has its value.
     *
     * @throws AttachException if the attach fails
     */
    public static StructOpsLink link(KernelMap map) {
        String description = "struct_ops map \"" + map.name() + "\"";
        try {
            // The map is in the field that has the program in links of other types.
            Fd link = map.kernel()
                    .execute(LinkCommand.Create.of(
                            description, map.fd(), AttachType.STRUCT_OPS.number(), LinkCommand.Details.NONE));
            return new StructOpsKind(map.kernel(), description, link);
        } catch (SyscallException e) {
            throw new AttachException(
                    "attach " + description + ": " + e.getMessage()
                            + switch (e.errno()) {
                                case EINVAL ->
                                    "; links of such maps need Linux 6.4, and a map created with"
                                            + " BPF_F_LINK that has its value";
                                case EEXIST -> "; a struct_ops with this name is already registered";
                                default -> "";
                            },
                    e);
        }
    }

    /** Writes the value of the map, if it has none. */
    public static void prepare(KernelMap map, StructOpsImage image, Map<String, LoadedProgram> programs) {
        List<Fd> held = new ArrayList<>();
        try {
            ByteBuffer value = ByteBuffer.wrap(image.value().clone()).order(ByteOrder.nativeOrder());
            for (StructOpsImage.Slot slot : image.slots()) {
                LoadedProgram program = programs.get(slot.program());
                if (program == null) {
                    throw failed(
                            map,
                            "member \"" + slot.member() + "\" is program \"" + slot.program()
                                    + "\", which was not loaded",
                            null);
                }
                // The kernel reads 8 bytes at the place of the function's address.
                value.putLong(slot.offset(), program.fd().hold());
                held.add(program.fd());
            }
            map.update(ONLY_KEY.clone(), value.array(), UpdateMode.ANY);
        } catch (SyscallException e) {
            // A map that already has its value keeps it; the value can't be replaced.
            if (e.errno() == Errno.EBUSY && image.variable().isLinked()) {
                return;
            }
            throw failed(
                    map,
                    e.getMessage()
                            + switch (e.errno()) {
                                case EINVAL ->
                                    "; a function that the kernel requires is missing, or a value is invalid";
                                case EBUSY -> "; the map is already attached";
                                case EEXIST -> "; a struct_ops with this name is already registered";
                                default -> "";
                            },
                    e);
        } finally {
            held.forEach(Fd::release);
        }
    }

    private static AttachException failed(KernelMap map, String problem, @Nullable Throwable cause) {
        String message = "attach struct_ops map \"" + map.name() + "\": " + problem;
        return cause == null ? new AttachException(message) : new AttachException(message, cause);
    }
}
