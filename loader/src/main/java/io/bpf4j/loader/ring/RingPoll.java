package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bpf4j.loader.internal.sys.EpollEvent;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.UndoStack;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What all consumers of rings have in common: one reader at a time, sleep while there is nothing, being woken, and closing
 * from any thread without pulling memory from under the reader.
 *
 * <p>What is opened belongs to this from the moment that it is handed to {@link #owned}, and is closed in the reverse order;
 * so an owner that fails half-way closes this and is done.
 */
final class RingPoll implements AutoCloseable {
    private static final int EVENTS = 16;

    /** What the eventfd is registered with; rings have the numbers from 0. */
    private static final long WAKEUP = -1;

    /** A century is for ever, and does not overflow. */
    private static final Duration FOR_EVER = Duration.ofDays(36_500);

    /** Hands out what is there now, without waiting. */
    interface Pass {
        int run();
    }

    private final String kind;
    private final Kernel kernel;

    /** Closed by whoever holds {@link #consuming}. */
    private final UndoStack owned = new UndoStack();

    private final Fd epoll;
    private final Fd wakeup;
    private final MemorySegment events;
    private final MemorySegment counter;

    /** Held while polling: makes the consumer single, and close wait for it. */
    private final ReentrantLock consuming = new ReentrantLock();

    private volatile boolean closed;
    private volatile long waits;

    /**
     * Opens what waiting needs.
     *
     * @param kind for messages: {@code ring buffer}
     * @param name of the map, for messages
     */
    RingPoll(Kernel kernel, String kind, String name) {
        this.kernel = kernel;
        this.kind = kind;
        // Automatic: each poll may come from another thread, and a few bytes need no closing.
        this.events = Arena.ofAuto().allocate((long) EVENTS * EpollEvent.SIZE, 8);
        this.counter = Arena.ofAuto().allocate(Long.BYTES, 8);
        String what = kind + " " + name;
        try {
            this.epoll = owned.own(kernel.execute(new FileCommand.EpollCreate(what)));
            this.wakeup = owned.own(kernel.execute(new FileCommand.Eventfd(what)));
            kernel.execute(new FileCommand.EpollAdd(epoll, wakeup, WAKEUP));
        } catch (RuntimeException e) {
            throw owned.closeAfter(e);
        }
    }

    /** What is closed with this, the last first. */
    UndoStack owned() {
        return owned;
    }

    /** Wakes when this descriptor becomes readable. */
    void watch(Fd fd, long number) {
        kernel.execute(new FileCommand.EpollAdd(epoll, fd, number));
    }

    boolean isClosed() {
        return closed;
    }

    /** Times that the consumer went to sleep. */
    long waits() {
        return waits;
    }

    /** Runs a pass; if there was nothing, waits and runs it again, until there is something or the time is up. */
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
            // Rounded up, or the last millisecond would be spent spinning.
            int millis = (int) Math.min(Integer.MAX_VALUE, (left + 999_999) / 1_000_000);
            int ready = kernel.execute(new FileCommand.EpollWait(epoll, events, millis));
            boolean woken = false;
            for (int i = 0; i < ready; i++) {
                woken |= EpollEvent.data(events, i) == WAKEUP;
            }
            if (woken) {
                kernel.execute(new FileCommand.Read(wakeup, counter));
            }
            int handled = closed ? 0 : pass.run();
            if (handled > 0 || woken) {
                return handled;
            }
            if (ready > 0) {
                // Reserved and not finished: the program is at work on another CPU, for nanoseconds.
                Thread.onSpinWait();
            }
        }
        return 0;
    }

    /** Ends the poll that waits now, or else the next wait, at once. Does nothing after close. */
    void wakeup() {
        if (!closed) {
            signal();
        }
    }

    private void signal() {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment one = own.allocate(Long.BYTES, 8);
            one.set(JAVA_LONG, 0, 1);
            // EAGAIN means that the counter is at its end: then it wakes as it is.
            kernel.execute(new FileCommand.Write(wakeup, one));
        } catch (IllegalStateException e) {
            if (!closed) {
                throw e;
            }
        }
    }

    /** Closes this because of a failure, which it gives back, with what else failed as suppressed. */
    RuntimeException closeAfter(RuntimeException failure) {
        closed = true;
        return owned.closeAfter(failure);
    }

    /** Closes what is owned, now or, from within a pass, when that ends. Does nothing the second time. */
    @Override
    public void close() {
        boolean first = !closed;
        closed = true;
        if (consuming.isHeldByCurrentThread()) {
            return; // the poll around us releases
        }
        if (first) {
            signal();
        }
        consuming.lock();
        try {
            owned.close();
        } finally {
            consuming.unlock();
        }
    }
}
