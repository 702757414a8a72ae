package io.bpf4j.usdt.internal.attach;

import io.bpf4j.loader.link.Detaching;
import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import java.util.ArrayList;
import java.util.List;

/**
 * What an attachment holds, and in which order it is given back: first the links, so that no program runs any more, then
 * what programs looked at (entries of the IP map, spec IDs), the last first. <b>Confined</b> while it is filled,
 * <b>thread-safe</b> after; {@link #close} works in either state, which makes a failed attachment and a finished one end
 * the same way.
 */
public final class Attachment implements AutoCloseable {
    private final boolean parallel;
    private final List<Link> links = new ArrayList<>();
    private final UndoStack afterwards = new UndoStack();
    private boolean closed;
    private Detaching detaching = Detaching.finished();

    /**
     * Empty.
     *
     * @param parallel whether links are worth closing in parallel: multi links are; for perf uprobes the kernel takes its
     *     time for one after the other, whoever asks
     */
    public Attachment(boolean parallel) {
        this.parallel = parallel;
    }

    /** Takes ownership of a link. */
    synchronized void add(Link link) {
        links.add(link);
    }

    /** Remembers what to do when no link is left. */
    public synchronized void afterDetach(Runnable step) {
        afterwards.push(step);
    }

    /** Links held: one for a file or for a site. */
    public synchronized int linkCount() {
        return links.size();
    }

    /**
     * Gives everything back, also if something fails; then throws the first failure. Idempotent: one that was closed, or
     * is being closed in the background, is left alone.
     */
    @Override
    public void close() {
        if (beClosed()) {
            release(() -> {});
        }
    }

    /** As {@link #close}, by a thread of its own. A second call gives the first one's. */
    public synchronized Detaching closeInBackground() {
        if (beClosed()) {
            detaching = Detaching.start(links.size(), this::release);
        }
        return detaching;
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    /** Whether the caller is the one who closes. */
    private synchronized boolean beClosed() {
        boolean first = !closed;
        closed = true;
        return first;
    }

    /** Nothing is added any more once it is closed, so this needs no lock, and does not hold one while it waits. */
    private void release(Runnable oneLess) {
        UndoStack all = new UndoStack();
        all.push(afterwards::undo);
        if (parallel) {
            all.push(() -> {
                new LinkGroup(links).close();
                links.forEach(_ -> oneLess.run());
            });
        } else {
            links.forEach(link -> all.push(() -> {
                link.close();
                oneLess.run();
            }));
        }
        all.undo();
    }
}
