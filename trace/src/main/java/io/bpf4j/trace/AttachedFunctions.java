package io.bpf4j.trace;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import java.util.function.Supplier;

/**
 * The functions of one attachment. They can be attached again, so that they come after probes that were attached in the
 * meantime ({@link PairOrder}). <i>Thread-safe.</i>
 *
 * <p>Tested by {@code PairsAtOneAddressTest}.
 */
final class AttachedFunctions implements Link {
    private final Supplier<LinkGroup> attach;
    private LinkGroup links;
    private boolean closed;

    /** Attaches. */
    AttachedFunctions(Supplier<LinkGroup> attach) {
        this.attach = attach;
        this.links = attach.get();
    }

    /** Detaches until {@link #again}. */
    synchronized void pause() {
        links.close();
    }

    /** Attaches again, if it was not closed meanwhile. */
    synchronized void again() {
        if (!closed) {
            links = attach.get();
        }
    }

    @Override
    public synchronized String description() {
        return links.description();
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        links.close();
    }

    @Override
    public synchronized Closing closeAsync() {
        closed = true;
        return links.closeAsync();
    }

    @Override
    public String toString() {
        return description() + (isClosed() ? " (closed)" : "");
    }
}
