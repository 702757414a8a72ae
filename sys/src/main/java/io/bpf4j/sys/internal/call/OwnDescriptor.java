package io.bpf4j.sys.internal.call;

import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.Locale;
import java.util.function.Function;

/**
 * Descriptors that come from the caller or go to the caller. In both cases the file gets a second descriptor, so that
 * no number ever has two owners.
 *
 * <p>Tested by {@code DescriptorsOnKernelTest} and {@code DescriptorsTest}.
 */
public final class OwnDescriptor implements Descriptor {
    private final Kernel kernel;
    private final Fd fd;

    private OwnDescriptor(Kernel kernel, Fd fd) {
        this.kernel = kernel;
        this.fd = fd;
    }

    /** A duplicate, for the caller. */
    public static Descriptor of(Kernel kernel, Fd fd) {
        return new OwnDescriptor(kernel, fd.duplicate(kernel));
    }

    /**
     * Takes over a descriptor of the caller.
     *
     * @param owner takes ownership of the file, and closes it if it fails
     * @return what the owner made; after a failure, the descriptor is still the caller's
     * @throws IllegalArgumentException if it is of another kind
     * @throws SyscallException EBADF if the number is not open, among others
     */
    public static <T> T takeOver(Kernel kernel, int number, ObjectCommand.Kind kind, Function<Fd, T> owner) {
        String name = kind.name().toLowerCase(Locale.ROOT);
        if (number < 0) {
            throw new IllegalArgumentException("descriptor " + number + " can't be a " + name + ": it is negative");
        }
        Fd own = duplicate(kernel, number, name + " of descriptor " + number);
        T taken = own.ownedBy(fd -> {
            requireKind(kernel, fd, number, kind, name);
            return owner.apply(fd);
        });
        try {
            kernel.execute(new FileCommand.Close(number, "descriptor " + number));
        } catch (RuntimeException | Error e) {
            // Others have closed the number meanwhile: it did not belong to the caller alone.
            UndoStack.of(own::close).closeAfter(e);
            throw e;
        }
        return taken;
    }

    private static Fd duplicate(Kernel kernel, int number, String description) {
        try {
            return kernel.execute(new FileCommand.Duplicate(number, description));
        } catch (SyscallException e) {
            throw e.errno() == Errno.EBADF
                    ? new SyscallException(
                            e.call(),
                            e.errnoNumber(),
                            "this process has no open descriptor " + number
                                    + "; one that it should have inherited may have been closed by exec")
                    : e;
        }
    }

    private static void requireKind(Kernel kernel, Fd fd, int number, ObjectCommand.Kind kind, String name) {
        String found = kernel.execute(new FileCommand.NameOf(fd));
        if (!ObjectCommand.Kind.of(found).filter(kind::equals).isPresent()) {
            throw new IllegalArgumentException("descriptor " + number
                    + (found.isEmpty()
                            ? " can't be checked without /proc: it may not be a BPF " + name
                            : " is not a BPF " + name + ", but " + found)
                    + "; it still belongs to the caller");
        }
    }

    @Override
    public int number() {
        return fd.number();
    }

    @Override
    public void makeInheritable() {
        kernel.execute(new FileCommand.Inherit(fd));
    }

    @Override
    public boolean isClosed() {
        return fd.isClosed();
    }

    @Override
    public void close() {
        fd.close();
    }

    @Override
    public String toString() {
        return fd.toString();
    }
}
