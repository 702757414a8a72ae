package io.bpf4j.loader.link;

import io.bpf4j.loader.error.BpfException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Several links that are closed together: in parallel, since closing each waits for the kernel. <i>Thread-safe.</i>
 */
public final class LinkGroup implements AutoCloseable {
    /** Beyond this the kernel's own queue is the limit, and a container's limit of processes near. */
    private static final int MAX_HELPERS = 256;

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
        List<Link> open = links.stream().filter(link -> !link.isClosed()).toList();
        AtomicReference<RuntimeException> failure = new AtomicReference<>();
        AtomicInteger next = new AtomicInteger();
        Runnable closing = () -> {
            for (int i = next.getAndIncrement(); i < open.size(); i = next.getAndIncrement()) {
                close(open.get(i), failure);
            }
        };
        List<Thread> helpers = start(Math.min(open.size() - 1, MAX_HELPERS), closing);
        closing.run();
        boolean interrupted = false;
        for (Thread helper : helpers) {
            while (helper.isAlive()) {
                try {
                    helper.join();
                } catch (InterruptedException e) {
                    interrupted = true;
                }
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

    /** The wait is the kernel's, not a CPU's: a thread per link costs little and turns a sum into a maximum. */
    private static List<Thread> start(int count, Runnable closing) {
        List<Thread> helpers = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                helpers.add(Thread.ofPlatform().name("bpf4j-detach").daemon().start(closing));
            }
        } catch (OutOfMemoryError e) {
            // The process may have no more threads (RLIMIT_NPROC, pids.max). Those it has, and the caller, do the work.
            return helpers;
        }
        return helpers;
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
