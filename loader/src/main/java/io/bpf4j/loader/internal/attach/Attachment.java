package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.error.AttachException;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.ProgramHandle;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.ObjectCommand;
import io.bpf4j.sys.internal.call.UndoStack;

/**
 * A program that is attached without a link of the kernel. It has no owner in the kernel: it stays until it is
 * detached, and any process with the rights may detach or replace it. Detaching needs the program, so this object has
 * its own descriptor of the program. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code KernelLinkTest} and {@code NetlinkOnKernelTest}.
 */
final class Attachment extends OwnedLink {
    /** The target of the program. */
    interface Hook extends AutoCloseable {
        void attach(Fd program);

        /** Replaces the attached program. */
        default void replace(Fd current, Fd next) {
            throw new UnsupportedOperationException("the kernel can't replace a program of this target");
        }

        /** Detaches the program, if it is still attached. */
        void detach(Fd program);

        /** Closes the descriptors that detaching needs. */
        @Override
        void close();
    }

    private final Hook hook;
    private Fd program;
    private boolean isDetached = true;

    private Attachment(Kernel kernel, String description, Hook hook, Fd program) {
        super(kernel, description);
        this.hook = hook;
        this.program = program;
        resources.afterClose(this::closeProgram);
        resources.afterClose(hook::close);
        resources.afterClose(this::detach);
    }

    /** Attaches. Takes ownership of the hook, also if it fails. */
    static Link of(AttachRequest request, Hook hook) {
        Attachment attachment;
        try {
            attachment = new Attachment(
                    request.kernel(),
                    request.description(),
                    hook,
                    request.program().duplicate(request.kernel()));
        } catch (RuntimeException | Error e) {
            UndoStack.of(hook::close).closeAfter(e);
            throw e;
        }
        try {
            hook.attach(attachment.program);
            attachment.isDetached = false;
            return attachment;
        } catch (RuntimeException | Error e) {
            attachment.resources.closeAfter(e);
            throw e;
        }
    }

    private synchronized void closeProgram() {
        program.close();
    }

    @Override
    public void update(ProgramHandle next) {
        replace(next);
    }

    @Override
    public synchronized void update(ProgramHandle next, ProgramHandle expected) {
        int current = kernel.execute(new ObjectCommand.InfoOfProgram(program)).id();
        if (expected.id() != current) {
            throw new AttachException("update " + description + " to " + next.name()
                    + ": it does not have the expected program " + expected.name());
        }
        replace(next);
    }

    private synchronized void replace(ProgramHandle next) {
        if (isClosed()) {
            throw new IllegalStateException(description + " is closed");
        }
        if (isDetached) {
            throw new AttachException("update " + description + " to " + next.name() + ": it is detached");
        }
        Fd own = AttachRequest.fd(next).duplicate(kernel);
        try {
            hook.replace(program, own);
        } catch (SyscallException e) {
            throw UndoStack.of(own::close)
                    .closeAfter(new AttachException(
                            "update " + description + " to " + next.name() + ": " + e.getMessage(), e));
        } catch (RuntimeException | Error e) {
            UndoStack.of(own::close).closeAfter(e);
            throw e;
        }
        Fd before = program;
        program = own;
        before.close();
    }

    @Override
    public synchronized void detach() {
        if (!isDetached) {
            hook.detach(program);
            isDetached = true;
        }
    }
}
