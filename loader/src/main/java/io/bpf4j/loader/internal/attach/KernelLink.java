package io.bpf4j.loader.internal.attach;

import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.link.Link;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A link that descriptors hold: of a BPF link, and of a perf event where one is needed. <i>Thread-safe.</i> */
final class KernelLink implements Link {
    private final String description;
    private final List<Fd> fds;
    private final AtomicBoolean closed = new AtomicBoolean();

    /** Takes ownership of the descriptors, which are closed in their order. */
    KernelLink(String description, List<Fd> fds) {
        this.description = description;
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
            fds.forEach(Fd::close);
        }
    }

    @Override
    public String toString() {
        return description + (isClosed() ? " (closed)" : "");
    }
}
