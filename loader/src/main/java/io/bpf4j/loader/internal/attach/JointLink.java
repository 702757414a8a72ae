package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.link.Link;
import io.bpf4j.loader.link.LinkGroup;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** Several links that are one to the caller: a perf event on each CPU. <i>Thread-safe.</i> */
final class JointLink implements Link {
    private final String description;
    private final LinkGroup links;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Takes ownership of the links. */
    JointLink(String description, List<Link> links) {
        this.description = description;
        this.links = new LinkGroup(links);
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
            links.close();
        }
    }

    @Override
    public String toString() {
        return description + (isClosed() ? " (closed)" : "");
    }
}
