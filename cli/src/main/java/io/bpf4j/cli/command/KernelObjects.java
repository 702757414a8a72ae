package io.bpf4j.cli.command;

import io.bpf4j.cli.failure.CommandException;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.kernel.Errno;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * The loaded objects of a kind, by the kernel's ids. <i>Immutable.</i>
 *
 * <p>Tested by {@code CliInspectionTest}.
 *
 * @param kind the name of the kind in messages
 * @param ids the current ids
 * @param opened opens the object of an id
 * @param close ends the use of an object
 */
record KernelObjects<T>(String kind, Supplier<List<Integer>> ids, IntFunction<T> opened, Consumer<T> close) {
    /** Whether an operand is an id, and not a name or a path. */
    static boolean isId(String operand) {
        return operand.matches("[0-9]{1,10}");
    }

    /** Opens the object of an id, which the caller closes. No object has an id that is larger than an int. */
    T byId(String id) {
        try {
            return opened.apply((int) Math.min(Long.parseLong(id), Integer.MAX_VALUE));
        } catch (SyscallException e) {
            throw e.errno() == Errno.ENOENT ? new CommandException("there is no " + kind + " with the id " + id, e) : e;
        }
    }

    /**
     * The same objects with the ids read once, now, so that a process that may not list them is refused before it does
     * anything.
     */
    KernelObjects<T> listed() {
        List<Integer> now = ids.get();
        return new KernelObjects<>(kind, () -> now, opened, close);
    }

    /** Opens each object for a moment; those that vanish meanwhile are skipped. */
    void forEach(Consumer<T> reader) {
        for (int id : ids.get()) {
            T object;
            try {
                object = opened.apply(id);
            } catch (SyscallException e) {
                if (e.errno() == Errno.ENOENT) {
                    continue;
                }
                throw e;
            }
            try {
                reader.accept(object);
            } finally {
                close.accept(object);
            }
        }
    }
}
