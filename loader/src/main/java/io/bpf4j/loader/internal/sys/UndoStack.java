package io.bpf4j.loader.internal.sys;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What to undo, last first, each step also where one before it fails. Whoever makes something of several parts acquires,
 * pushes and goes on, and at the end calls {@link #commit()}; whoever holds several things keeps it until it closes them.
 * <i>Confined.</i>
 */
public final class UndoStack implements AutoCloseable {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    /** One with a single step. */
    public static UndoStack of(Runnable undo) {
        UndoStack stack = new UndoStack();
        stack.push(undo);
        return stack;
    }

    public void push(Runnable undo) {
        steps.push(undo);
    }

    /** Closes it as one of the steps. */
    public Fd own(Fd fd) {
        push(fd::close);
        return fd;
    }

    /** Unmaps it as one of the steps. */
    public Mapping own(Mapping mapping) {
        push(mapping::close);
        return mapping;
    }

    /** Keeps what was done. */
    public void commit() {
        steps.clear();
    }

    /** Undoes everything because of a failure, which it gives back, with what else failed as suppressed. */
    public <E extends Throwable> E closeAfter(E failure) {
        try {
            close();
        } catch (RuntimeException undo) {
            failure.addSuppressed(undo);
        }
        return failure;
    }

    /** Undoes everything that was not committed, then throws the first failure. Does nothing the second time. */
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
