package io.bpf4j.loader.link;

import io.bpf4j.loader.error.BpfException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Several links that are closed together: in parallel, since closing each waits for the kernel. <i>Thread-safe.</i>
 */
public final class LinkGroup implements AutoCloseable {
    private final List<Link> links;

    /** Takes ownership of the links. */
    public LinkGroup(List<? extends Link> links) {
        this.links = List.copyOf(links);
    }

    public List<Link> links() {
        return links;
    }

    public int size() {
        return links.size();
    }

    /**
     * Closes every link and waits until all are closed, also where closing one fails.
     *
     * @throws BpfException the first failure, with the others as suppressed ones
     */
    @Override
    public void close() {
        List<Link> open =
                new ArrayList<>(links.stream().filter(link -> !link.isClosed()).toList());
        if (open.isEmpty()) {
            return;
        }
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        CountDownLatch others = new CountDownLatch(open.size() - 1);
        // The wait is the kernel's, not a CPU's: a thread per link costs little and turns a sum into a maximum.
        for (Link link : open.subList(1, open.size())) {
            Thread.ofPlatform().name("bpf4j-detach").daemon().start(() -> {
                try {
                    close(link, failure);
                } finally {
                    others.countDown();
                }
            });
        }
        close(open.getFirst(), failure);
        boolean interrupted = false;
        while (true) {
            try {
                others.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        RuntimeException first = failure.get();
        if (first != null) {
            throw first;
        }
    }

    private static void close(Link link, AtomicReference<RuntimeException> failure) {
        try {
            link.close();
        } catch (RuntimeException e) {
            RuntimeException first = failure.compareAndExchange(null, e);
            if (first != null) {
                first.addSuppressed(e);
            }
        }
    }
}
