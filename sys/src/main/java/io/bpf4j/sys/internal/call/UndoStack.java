package io.bpf4j.sys.internal.call;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Undo steps, executed last first; a failed step does not prevent the others. Code that creates several parts pushes a
 * step for each part, and calls {@link #commit()} at the end; the owner of several resources keeps the stack to close
 * them. <i>Confined.</i>
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
    public <E extends Throwable> E closeAfter(E failure) {
        try {
            close();
        } catch (RuntimeException undo) {
            failure.addSuppressed(undo);
        }
        return failure;
    }

    /** Undoes everything that was not committed, then throws the first failure. A second call has no effect. */
    @Override
    public void close() {
        RuntimeException failure = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (RuntimeException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
