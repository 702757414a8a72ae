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
    private KernelLink(String description, List<Fd> fds) {
        this.description = description;
        this.fds = List.copyOf(fds);
    }

    /** Takes ownership of a link, and of what else has to be closed with it, after it. */
    static KernelLink of(Attempt attempt, Fd link) {
        return new KernelLink(attempt.what(), List.of(link));
    }

    static KernelLink of(Attempt attempt, Fd link, Fd event) {
        return new KernelLink(attempt.what(), List.of(link, event));
    }

    /** Takes ownership of a perf event that has its program by ioctl, as on kernels without perf links. */
    static KernelLink withoutLink(Attempt attempt, Fd event) {
        return new KernelLink(attempt.what(), List.of(event));
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
