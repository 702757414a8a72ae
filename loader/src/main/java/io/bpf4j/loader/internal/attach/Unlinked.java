package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.AttachTarget;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;

/**
 * Attaches by BPF_PROG_ATTACH, without a link. The program stays attached until any process detaches it, or until the
 * target is gone. A detach needs the program and the target, so the attachment has its own file descriptors for both.
 *
 * <p>Tested by {@code KernelLinkTest}.
 */
final class Unlinked {
    private Unlinked() {}

    /** Attaches by a link, or without one if the kernel does not support such links. */
    static Link orElse(Attempt attempt, LinkCommand.Create create, Fd target, AttachType type) {
        try {
            return attempt.link(create);
        } catch (SyscallException refused) {
            if (refused.errno() != Errno.EINVAL) {
                throw refused;
            }
            try {
                return attach(attempt, target, type);
            } catch (RuntimeException e) {
                e.addSuppressed(refused);
                throw e;
            }
        }
    }

    /** An infrared receiver. */
    static Link lirc(Attempt attempt, AttachTarget.Lirc target) {
        try (Fd device = attempt.execute(new FileCommand.Open(target.device(), OpenFlags.RDWR | OpenFlags.NONBLOCK))) {
            return attach(attempt, device, AttachType.LIRC_MODE2);
        }
    }

    static Link attach(Attempt attempt, Fd target, AttachType type) {
        LinkGroup held = LinkGroup.inSequence(attempt.description());
        try {
            Fd ownProgram = attempt.program().duplicate(attempt.kernel());
            held.afterClose(ownProgram::close);
            Fd ownTarget = target.duplicate(attempt.kernel());
            held.afterClose(ownTarget::close);
            attempt.execute(new LinkCommand.Attach(ownProgram, ownTarget, type.number(), 0));
            held.afterClose(() -> attempt.execute(new LinkCommand.DetachProgram(ownProgram, ownTarget, type.number())));
            return held;
        } catch (RuntimeException e) {
            throw held.closeAfter(e);
        }
    }
}
