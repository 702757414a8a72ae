package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Cgroup;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.loader.link.Sockmap;
import io.bpf4j.loader.link.Tc;
import io.bpf4j.loader.link.Xdp;
import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.kernel.AttachType;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Detaches programs that any process has attached without a link.
 *
 * <p>Tested by {@code NetlinkOnKernelTest} and {@code UnlinkedCgroupsOnKernelTest}.
 */
public final class Detaching {
    private Detaching() {}

    /** Returns false if the program is not attached there without a link. */
    public static boolean detach(Host host, AttachTarget target, ProgramHandle program) {
        Kernel kernel = Kernel.of(host);
        Fd fd = AttachRequest.fd(program);
        return switch (target) {
            case Xdp xdp -> {
                boolean isDetached = false;
                for (AttachedPrograms.Entry entry :
                        HookQuery.of(host, xdp, false).programs()) {
                    Xdp.Mode mode = mode(entry.flags());
                    if (entry.programId() == program.id()) {
                        try (XdpHook hook = XdpHook.open(kernel, xdp.withMode(mode))) {
                            hook.detach(fd);
                        }
                        isDetached |= HookQuery.of(host, xdp.withMode(mode), false).programs().stream()
                                .noneMatch(left -> left.programId() == program.id());
                    }
                }
                yield isDetached;
            }
            case Tc filters -> {
                try (TcHook hook = TcHook.open(kernel, filters)) {
                    yield hook.deleteAll(fd) > 0;
                }
            }
            case Cgroup group -> detach(kernel, group.directory(), type(target, group.attachType()), fd);
            case Lirc receiver -> detach(kernel, receiver.device(), AttachType.LIRC_MODE2, fd);
            case Sockmap sockets -> {
                AttachType type = type(target, sockets.attachType());
                yield detach(kernel, KernelMap.of(sockets.map()).fd().duplicate(kernel), type, fd);
            }
            default ->
                throw new IllegalArgumentException("programs are attached without a link to control groups, XDP,"
                        + " filters of traffic control, socket maps and infrared receivers only, not to "
                        + target.description());
        };
    }

    private static Xdp.Mode mode(int flag) {
        for (Xdp.Mode mode : Xdp.Mode.values()) {
            if (mode.flag() == flag) {
                return mode;
            }
        }
        return Xdp.Mode.ANY;
    }

    private static AttachType type(AttachTarget target, Optional<AttachType> given) {
        return given.orElseThrow(() -> new IllegalArgumentException("programs of several attach types can be attached"
                + " to " + target.description() + "; choose one by the target's withAttachType"));
    }

    private static boolean detach(Kernel kernel, Path path, AttachType type, Fd program) {
        return detach(
                kernel,
                kernel.execute(new FileCommand.Open(path, OpenFlags.RDONLY | OpenFlags.NONBLOCK)),
                type,
                program);
    }

    /** Takes ownership of the target. */
    private static boolean detach(Kernel kernel, Fd target, AttachType type, Fd program) {
        try (ProgAttach hook = new ProgAttach(kernel, target, type, 0, null)) {
            return hook.detachIfThere(program);
        }
    }
}
