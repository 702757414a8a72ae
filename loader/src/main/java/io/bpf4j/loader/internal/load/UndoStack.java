package io.bpf4j.loader.internal.load;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What to undo, last first, unless the whole succeeds: acquire, push, go on; at the end {@link #commit()}.
 * <i>Confined.</i>
 */
public final class UndoStack implements AutoCloseable {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    public void push(Runnable undo) {
        steps.push(undo);
    }

    /** Keeps what was done. */
    public void commit() {
        steps.clear();
    }

    /** Undoes everything that was not committed, also where one step fails. */
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
