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
 * A program that is attached without a link of the kernel. The kernel knows no owner of it: it stays until somebody
 * detaches it, and anybody may detach or replace it. A detach needs the program, so this has a descriptor of its own for
 * it. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code KernelLinkTest} and {@code NetlinkOnKernelTest}.
 */
final class Attachment extends OwnedLink {
    /** Where the program is. */
    interface Place extends AutoCloseable {
        void attach(Fd program);

        /** Puts a program in the place of the one that is there. */
        default void replace(Fd current, Fd next) {
            throw new UnsupportedOperationException("the kernel replaces no program there");
        }

        /** Detaches the program, if it is still there. */
        void detach(Fd program);

        /** Frees what this needs to detach. */
        @Override
        void close();
    }

    private final Place place;
    private Fd program;
    private boolean isDetached = true;

    private Attachment(Kernel kernel, String description, Place place, Fd program) {
        super(kernel, description);
        this.place = place;
        this.program = program;
        resources.afterClose(this::closeProgram);
        resources.afterClose(place::close);
        resources.afterClose(this::detach);
    }

    /** Attaches. Takes ownership of the place, also if it fails. */
    static Link of(Attempt attempt, Place place) {
        Attachment attachment;
        try {
            attachment = new Attachment(
                    attempt.kernel(),
                    attempt.description(),
                    place,
                    attempt.program().duplicate(attempt.kernel()));
        } catch (RuntimeException | Error e) {
            UndoStack.of(place::close).closeAfter(e);
            throw e;
        }
        try {
            place.attach(attachment.program);
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
        Fd own = Attempt.fd(next).duplicate(kernel);
        try {
            place.replace(program, own);
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
            place.detach(program);
            isDetached = true;
        }
    }
}
