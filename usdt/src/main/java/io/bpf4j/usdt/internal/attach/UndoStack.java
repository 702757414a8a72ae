package io.bpf4j.usdt.internal.attach;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What to do to take back what was done, the last first. <b>Confined</b> while it is filled; {@link #undo} may be called
 * from any thread once the filling one has handed it over.
 *
 * <p>A step that fails doesn't keep the others from being done.
 */
public final class UndoStack {
    private final Deque<Runnable> steps = new ArrayDeque<>();

    /** Remembers how to take back what was just done. */
    public void push(Runnable step) {
        steps.push(step);
    }

    /** Takes everything back, and forgets it: a second call does nothing. */
    public void undo() {
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
