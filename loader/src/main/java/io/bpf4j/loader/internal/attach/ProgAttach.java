package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.AttachedPrograms;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.Lirc;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.LinkCommand;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.OpenFlags;
import io.bpf4j.sys.kernel.AttachType;
import io.bpf4j.sys.kernel.Errno;
import org.jspecify.annotations.Nullable;

/**
 * A file that accepts programs by BPF_PROG_ATTACH, without a link: a map of sockets, an infrared receiver, a control
 * group.
 *
 * <p>Tested by {@code KernelLinkTest} and {@code UnlinkedCgroupsOnKernelTest}.
 *
 * @param target closed with this
 * @param flags with which a program is attached
 * @param replaced the program that the first one replaces; its owner closes it
 */
record ProgAttach(
        Kernel kernel,
        Fd target,
        AttachType type,
        int flags,
        @Nullable Fd replaced) implements Attachment.Hook {
    /** Whether another program may be attached, too. */
    private static final int ALLOW_MULTI = 1 << 1;

    private static final int REPLACE = 1 << 2;

    /** The number of attempts: other processes may attach programs between the query and the detaching. */
    private static final int ATTEMPTS = 8;

    /** Attaches by a link, or without one if the kernel does not support such links. */
    static Link orElse(AttachRequest request, LinkCommand.Create create, Fd target, AttachType type) {
        try {
            return request.link(create);
        } catch (SyscallException refused) {
            if (refused.errno() != Errno.EINVAL) {
                throw refused;
            }
            try {
                return Attachment.of(
                        request, new ProgAttach(request.kernel(), target.duplicate(request.kernel()), type, 0, null));
            } catch (RuntimeException e) {
                e.addSuppressed(refused);
                throw e;
            }
        }
    }

    /** An infrared receiver. */
    static Link lirc(AttachRequest request, Lirc target) {
        Fd device = request.execute(new FileCommand.Open(target.device(), OpenFlags.RDWR | OpenFlags.NONBLOCK));
        return Attachment.of(request, new ProgAttach(request.kernel(), device, AttachType.LIRC_MODE2, 0, null));
    }

    @Override
    public void attach(Fd program) {
        int all = replaced == null ? flags : flags | REPLACE;
        kernel.execute(new LinkCommand.Attach(program, target, type.number(), all, replaced));
    }

    @Override
    public void replace(Fd current, Fd next) {
        boolean beside = (flags & ALLOW_MULTI) != 0;
        kernel.execute(new LinkCommand.Attach(
                next, target, type.number(), beside ? flags | REPLACE : flags, beside ? current : null));
    }

    @Override
    public void detach(Fd program) {
        detachIfThere(program);
    }

    /** Returns false if the target does not have the program. */
    boolean detachIfThere(Fd program) {
        int id = isOfGroup()
                ? kernel.execute(new ObjectCommand.InfoOfProgram(program)).id()
                : 0;
        for (int request = 1; ; request++) {
            long revision = 0;
            if (isOfGroup()) {
                // Without BPF_F_ALLOW_MULTI a group has one program, which any other may have replaced. The kernel
                // detaches it whichever program is given.
                AttachedPrograms there = HookQuery.ofGroup(kernel, target, type);
                if (there.programs().stream().noneMatch(entry -> entry.programId() == id)) {
                    return false;
                }
                revision = there.revision();
            }
            try {
                kernel.execute(new LinkCommand.DetachProgram(program, target, type.number(), revision));
                return true;
            } catch (SyscallException e) {
                if (e.errno() == Errno.ENOENT) {
                    return false;
                }
                if (e.errno() != Errno.ESTALE || request == ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private boolean isOfGroup() {
        return type.name().startsWith("CGROUP") || type == AttachType.LSM_CGROUP;
    }

    @Override
    public void close() {
        target.close();
    }
}
