package io.bpf4j.sys.internal.call;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Undo steps, executed last first; a failed step does not prevent the others, even if it throws an {@link Error}. Code
 * that creates several parts pushes a step for each part, and calls {@link #commit()} at the end; the owner of several
 * resources keeps the stack to close them. <i>Confined.</i>
 *
 * <p>Tested by {@code LoadTransactionTest} and {@code LinkGroupTest}.
 */
public final class UndoStack implements AutoCloseable {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    /** A stack with a single step. */
    public static UndoStack of(Runnable undo) {
        UndoStack stack = new UndoStack();
        stack.push(undo);
        return stack;
    }

    /**
     * Something that was made, once what it took to make it is closed. If that fails, it is undone, and the failure is
     * thrown: the end of a try-with-resources statement would throw it as well, and lose what the statement returns.
     *
     * {@snippet :
     * try (Fd directory = kernel.execute(open)) {
     *     Fd made = kernel.execute(create);
     *     return UndoStack.closing(made, made::close, directory::close);
     * }
     * }
     */
    public static <T> T closing(T made, Runnable undo, Runnable... needed) {
        try (UndoStack stack = of(undo)) {
            for (Runnable close : needed) {
                close.run();
            }
            stack.commit();
            return made;
        }
    }

    public void push(Runnable undo) {
        steps.push(undo);
    }

    /** Adds a step that closes a file descriptor. */
    public Fd own(Fd fd) {
        push(fd::close);
        return fd;
    }

    /** Adds a step that unmaps a mapping. */
    public Mapping own(Mapping mapping) {
        push(mapping::close);
        return mapping;
    }

    /** Removes all steps without executing them. */
    public void commit() {
        steps.clear();
    }

    /** Undoes everything after a failure; returns that failure, with further failures as suppressed exceptions. */
    @SuppressWarnings("ReferenceEquality") // no exception suppresses itself
    public <E extends Throwable> E closeAfter(E failure) {
        try {
            close();
        } catch (RuntimeException | Error undo) {
            if (failure != undo) {
                failure.addSuppressed(undo);
            }
        }
        return failure;
    }

    /** Undoes everything that was not committed, then throws the first failure. A second call has no effect. */
    @Override
    @SuppressWarnings("ReferenceEquality") // no exception suppresses itself
    public void close() {
        Throwable failure = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (RuntimeException | Error e) {
                // Also after an error, such as a lack of memory: what is left would stay for ever.
                if (failure == null) {
                    failure = e;
                } else if (failure != e) {
                    failure.addSuppressed(e);
                }
            }
        }
        switch (failure) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {}
        }
    }
}
