package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.UndoStack;
import io.bpf4j.loader.link.Link;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What is attached without a link of the kernel: something undoes it, and descriptors are held until then.
 * <i>Thread-safe.</i>
 */
final class HeldAttachment implements Link {
    private final String description;
    private final Runnable undo;
    private final List<Fd> fds;
    private final AtomicBoolean closed = new AtomicBoolean();

    /**
     * Takes ownership.
     *
     * @param undo runs first, with the descriptors open
     */
    HeldAttachment(String description, Runnable undo, List<Fd> fds) {
        this.description = description;
        this.undo = undo;
        this.fds = List.copyOf(fds);
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public boolean isClosed() {
        return closed.get();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            try (UndoStack all = new UndoStack()) {
                fds.forEach(all::own);
                all.push(undo);
            }
        }
    }

    @Override
    public String toString() {
        return description + (isClosed() ? " (closed)" : "");
    }
}
