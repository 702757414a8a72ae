package io.bpf4j.loader.ring;

import io.bpf4j.loader.internal.sys.EpollEvent;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.UndoStack;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The common part of all ring consumers: one reader at a time, waiting, waking, and closing from any thread without
 * unmapping memory that the reader uses.
 *
 * <p>Resources belong to this object once they are added to {@link #owned}, and are closed in the reverse order. If
 * opening fails half-way, the owner only has to close this object.
 *
 * <p>Tested by {@code RingBufferTest} and {@code RingBufferOnKernelTest}.
 */
final class RingPoll implements AutoCloseable {
    /** A century: practically unlimited, and does not overflow. */
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    /** Processes the available records, without waiting. */
    interface Pass {
        int run();
    }

    private final String kind;
    /** Closed only while holding {@link #consuming}. */
    private final UndoStack owned = new UndoStack();

    private final Waiter waiter;

    /** Held while polling: allows one consumer at a time, and makes close wait for it. */
    private final ReentrantLock consuming = new ReentrantLock();

    private volatile boolean closed;
    private volatile long waits;

    /**
     * Opens the descriptors needed for waiting.
     *
     * @param kind for messages: {@code ring buffer}
     * @param name of the map, for messages
     */
    RingPoll(Kernel kernel, String kind, String name) {
        this.kind = kind;
        try {
            this.waiter = new Waiter(kernel, kind + " " + name, owned);
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** The resources that are closed with this object, the last first. */
    UndoStack owned() {
        return owned;
    }

    /** Makes poll wake when this descriptor becomes readable. */
    void watch(Fd fd, long number) {
        waiter.watch(fd, number, EpollEvent.READABLE);
    }

    boolean isClosed() {
        return closed;
    }

    /** The number of times that the consumer waited. */
    long waits() {
        return waits;
    }

    /**
     * Runs a pass; if it found no records, waits and runs it again, until a pass finds records or the timeout expires.
     */
    int poll(Duration timeout, Pass pass) {
        if (consuming.isHeldByCurrentThread()) {
            throw new IllegalStateException("a record handler can't read its own " + kind);
        }
        if (!consuming.tryLock()) {
            requireOpen();
            throw new IllegalStateException("another thread reads this " + kind + "; it has a single consumer");
        }
        try {
            requireOpen();
            int handled = pass.run();
            if (handled > 0 || timeout.isZero() || timeout.isNegative()) {
                return handled;
            }
            return sleep(timeout, pass);
        } finally {
            try {
                if (closed) {
                    owned.close();
                }
            } finally {
                consuming.unlock();
            }
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the " + kind + " is closed");
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private int sleep(Duration timeout, Pass pass) {
        long start = System.nanoTime();
        long limit = (timeout.compareTo(FOR_EVER) > 0 ? FOR_EVER : timeout).toNanos();
        while (!closed) {
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) {
                // Programs may write without waking anyone (BPF_RB_NO_WAKEUP).
                return pass.run();
            }
            waits++;
            int ready = waiter.await(left);
            boolean woken = ready == Waiter.WOKEN;
            int handled = closed ? 0 : pass.run();
            if (handled > 0 || woken) {
                return handled;
            }
            if (ready > 0) {
                // Reserved and not finished: the program is writing on another CPU, for nanoseconds.
                Thread.onSpinWait();
            }
        }
        return 0;
    }

    /** Ends the current wait of a poll at once, or else the next one. Does nothing after close. */
    void wakeup() {
        waiter.wake();
    }

    /**
     * Closes this object because of a failure, and returns that failure with further failures as suppressed exceptions.
     */
    RuntimeException closeAfter(RuntimeException failure) {
        closed = true;
        return owned.closeAfter(failure);
    }

    /** Closes the owned resources: now or, if called within a pass, when the pass ends. A second call does nothing. */
    @Override
    public void close() {
        boolean first = !closed;
        closed = true;
        if (consuming.isHeldByCurrentThread()) {
            return; // the enclosing poll releases
        }
        if (first) {
            waiter.wake();
        }
        consuming.lock();
        try {
            owned.close();
        } finally {
            consuming.unlock();
        }
    }
}
