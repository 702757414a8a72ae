package io.bpf4j.loader.link;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.internal.thread.Threads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Several links that are handled as one, with clean-up steps that run after the last is closed. <i>Thread-safe.</i>
 *
 * <p>To attach to many targets, create an empty group, add each link, and register clean-up of the data that the
 * programs use with {@link #afterClose}: it runs when the programs no longer run. The group can be closed at any time,
 * so a failed attachment is cleaned up like a complete one.
 *
 * <pre>{@code
 * LinkGroup links = LinkGroup.inParallel("my probes");
 * try {
 *     for (AttachTarget target : targets) {
 *         links.add(program.attach(target));
 *     }
 *     return links;
 * } catch (RuntimeException e) {
 *     throw links.closeAfter(e);
 * }
 * }</pre>
 */
public final class LinkGroup implements Link {
    /**
     * More threads gain nothing, because the kernel queues the requests, and may exceed a container's limit of
     * processes.
     */
    private static final int MAX_HELPERS = 256;

    private final String description;
    private final boolean parallel;
    private final List<Link> links = new ArrayList<>();
    private final UndoStack cleanUp = new UndoStack();
    private @Nullable Progress closing;

    private LinkGroup(String description, boolean parallel) {
        this.description = description;
        this.parallel = parallel;
    }

    /** An empty group whose links are closed in parallel. Closing takes as long as the slowest link, not the sum. */
    public static LinkGroup inParallel(String description) {
        return new LinkGroup(description, true);
    }

    /**
     * An empty group whose links are closed one after the other, the last first: for perf uprobes, which the kernel
     * detaches one after the other even if several threads close them.
     */
    public static LinkGroup inSequence(String description) {
        return new LinkGroup(description, false);
    }

    /**
     * Takes ownership of a link.
     *
     * @throws IllegalStateException if the group is closed; the link is then closed as well
     */
    public void add(Link link) {
        synchronized (this) {
            if (closing == null) {
                links.add(link);
                return;
            }
        }
        throw UndoStack.of(link::close).closeAfter(closed());
    }

    /**
     * Adds a clean-up step to run after all links are closed. Steps run the last first. If a step fails, the others
     * still run.
     *
     * @throws IllegalStateException if the group is closed; the step then runs at once
     */
    public void afterClose(Runnable step) {
        synchronized (this) {
            if (closing == null) {
                cleanUp.push(step);
                return;
            }
        }
        throw UndoStack.of(step).closeAfter(closed());
    }

    private IllegalStateException closed() {
        return new IllegalStateException(description + " is closed");
    }

    /** The links, in the order in which they were added; also after they are closed. */
    public synchronized List<Link> links() {
        return List.copyOf(links);
    }

    public synchronized int size() {
        return links.size();
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public synchronized boolean isClosed() {
        return closing != null;
    }

    /**
     * Closes every link, waits until all are closed, then runs the clean-up steps, even if a link or step fails. A
     * second call does nothing.
     *
     * @throws BpfException the first failure, with the others as suppressed exceptions
     */
    @Override
    public void close() {
        Progress own = new Progress(size());
        if (begin(own) == own) {
            release(own);
        }
    }

    @Override
    public Closing closeAsync() {
        Progress own = new Progress(size());
        Progress first = begin(own);
        if (first == own && start(1, () -> releaseQuietly(own)).isEmpty()) {
            releaseQuietly(own); // no other code would close them
        }
        return first;
    }

    /**
     * Closes the group because of a failure, and returns that failure with further failures as suppressed exceptions.
     */
    public <E extends Throwable> E closeAfter(E failure) {
        return UndoStack.of(this::close).closeAfter(failure);
    }

    /** After the first call nothing can be added; all calls return the first call's progress. */
    private synchronized Progress begin(Progress own) {
        if (closing == null) {
            closing = own;
        }
        return closing;
    }

    private void releaseQuietly(Progress progress) {
        try {
            release(progress);
        } catch (RuntimeException _) {
            // The stage reports it.
        }
    }

    /** Holds no lock while it waits. */
    private void release(Progress progress) {
        try (UndoStack all = new UndoStack()) {
            all.push(cleanUp::close);
            if (parallel) {
                all.push(() -> closeInParallel(progress));
            } else {
                links.forEach(link -> all.push(() -> progress.close(link)));
            }
        } catch (RuntimeException | Error e) {
            progress.completeExceptionally(e);
            throw e;
        }
        progress.complete(null);
    }

    private void closeInParallel(Progress progress) {
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        AtomicInteger next = new AtomicInteger();
        Runnable work = () -> {
            for (int i = next.getAndIncrement(); i < links.size(); i = next.getAndIncrement()) {
                try {
                    progress.close(links.get(i));
                } catch (RuntimeException | Error e) {
                    Throwable first = failure.compareAndExchange(null, e);
                    if (first != null) {
                        first.addSuppressed(e);
                    }
                }
            }
        };
        List<Thread> helpers = start(Math.min(links.size() - 1, MAX_HELPERS), work);
        work.run();
        helpers.forEach(Threads::join);
        switch (failure.get()) {
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            case null, default -> {}
        }
    }

    /** The threads wait in the kernel and use no CPU: a thread per link costs little, and the waits overlap. */
    private static List<Thread> start(int count, Runnable work) {
        List<Thread> threads = new ArrayList<>();
        try {
            for (int i = 0; i < count; i++) {
                threads.add(Thread.ofPlatform().name("bpf4j-detach").daemon().start(work));
            }
        } catch (OutOfMemoryError e) {
            // The process may not start more threads (RLIMIT_NPROC, pids.max). The threads started so far and the
            // caller do the work.
            return threads;
        }
        return threads;
    }

    @Override
    public String toString() {
        return description + (isClosed() ? " (closed)" : "");
    }

    /** The stage of one closing. Only the group completes it: a caller's future is a copy. */
    private static final class Progress extends CompletableFuture<Void> implements Closing {
        private final int total;
        private final AtomicInteger left;

        Progress(int links) {
            this.total = Math.max(1, links);
            this.left = new AtomicInteger(total);
        }

        void close(Link link) {
            link.close();
            left.decrementAndGet();
        }

        @Override
        public int total() {
            return total;
        }

        @Override
        public int left() {
            return isDone() && !isCompletedExceptionally() ? 0 : left.get();
        }

        @Override
        public CompletableFuture<Void> toCompletableFuture() {
            return copy();
        }
    }
}
