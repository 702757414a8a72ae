package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.OwnDescriptor;
import io.bpf4j.sys.internal.call.UndoStack;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.spi.AbstractInterruptibleChannel;

/**
 * A wait for file descriptors to become ready (epoll), which another thread can end (eventfd), also by an interrupt of
 * the waiting thread. <i>Confined</i> to one waiting thread at a time, except for {@link #wake}.
 *
 * <p>The rings belong to the waiter, too, once they are added to {@link #owned}. So if opening a ring fails half-way,
 * only the waiter has to be closed.
 *
 * <p>Tested by {@code RingBufferTest}, {@code InterruptedPollTest} and {@code UserRingBufferTest}.
 */
final class Waiter {
    /** The result of a wait that another thread ended. */
    static final int WOKEN = -1;

    private static final int EVENTS = 16;

    /** The number under which the eventfd is registered; other file descriptors have numbers from 0. */
    private static final long WAKEUP = -1;

    private final Kernel kernel;
    private final UndoStack owned = new UndoStack();
    private final Fd epoll;
    private final Fd wakeup;

    /** In an automatic arena: each wait may be in another thread, and a few bytes need not be closed. */
    private final MemorySegment events = Arena.ofAuto().allocate((long) EVENTS * EpollEvent.SIZE, 8);

    private InterruptibleWait interruptible = new InterruptibleWait();

    /**
     * Has the JDK call {@link #wake} when the waiting thread, virtual or not, is interrupted, or has been. Only the JDK
     * knows of an interrupt while a thread is in a native call, and this class is how it tells channels of other
     * providers. After an interrupt it is closed, and the next wait needs another one.
     */
    private final class InterruptibleWait extends AbstractInterruptibleChannel {
        int await(int millis) {
            begin();
            try {
                return epoll(millis);
            } finally {
                try {
                    end(true);
                } catch (AsynchronousCloseException e) {
                    interruptible = new InterruptibleWait(); // the thread stays interrupted
                }
            }
        }

        @Override
        protected void implCloseChannel() {
            wake();
        }
    }

    /**
     * Opens the descriptors.
     *
     * @param name for messages: {@code ring buffer events}
     */
    Waiter(Kernel kernel, String name) {
        this.kernel = kernel;
        try {
            this.epoll = owned.own(kernel.execute(new FileCommand.EpollCreate(name)));
            this.wakeup = owned.own(kernel.execute(new FileCommand.Eventfd(name)));
            watch(wakeup, WAKEUP, EpollEvent.READABLE);
        } catch (RuntimeException | Error e) {
            owned.closeAfter(e);
            throw e;
        }
    }

    /** The resources that are closed together, the last first. */
    UndoStack owned() {
        return owned;
    }

    void watch(Fd fd, long number, int flags) {
        kernel.execute(new FileCommand.EpollAdd(epoll, fd, number, flags));
    }

    /** A duplicate of the epoll's descriptor, which the caller closes. */
    Descriptor descriptor() {
        return OwnDescriptor.of(kernel, epoll);
    }

    /**
     * Waits; after a signal it may return early. An interrupt of this thread ends the wait as {@link #wake} does, and
     * the thread stays interrupted; it may also end the next wait, if it came too late for this one.
     *
     * @return number of file descriptors that are ready, or {@link #WOKEN}
     */
    int await(long nanos) {
        // Rounded up, otherwise the last millisecond would be spent spinning.
        int millis = (int) Math.min(Integer.MAX_VALUE, (nanos + 999_999) / 1_000_000);
        return millis == 0 ? epoll(0) : interruptible.await(millis);
    }

    private int epoll(int millis) {
        int ready = kernel.execute(new FileCommand.EpollWait(epoll, events, millis));
        for (int i = 0; i < ready; i++) {
            if (EpollEvent.data(events, i) == WAKEUP) {
                kernel.execute(new FileCommand.Read(wakeup, events.asSlice(0, Long.BYTES)));
                return WOKEN;
            }
        }
        return ready;
    }

    /**
     * Ends the current wait, or else the next one; does nothing if the descriptors are closed: then no thread waits.
     */
    void wake() {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment one = own.allocate(Long.BYTES, 8);
            one.set(JAVA_LONG, 0, 1);
            // EAGAIN means that the counter is at its maximum, so the waiter wakes anyway.
            kernel.execute(new FileCommand.Write(wakeup, one));
        } catch (IllegalStateException e) {
            if (!wakeup.isClosed()) {
                throw e;
            }
        }
    }
}
