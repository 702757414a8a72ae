package io.bpf4j.sys.internal.call;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.function.Function;

/**
 * A file descriptor with an owner. <i>Thread-safe.</i>
 *
 * <p>Numbers are reused: one thread is about to call the kernel with number 7, another closes 7, a third opens a file
 * and gets 7, and the first call uses the wrong file. So each call is bracketed by {@link #hold} and {@link #release},
 * and {@link #close} releases the number only when no call is in flight: at once, or when the last call ends. Close
 * itself never waits. After close, {@code hold} throws.
 *
 * <p>The state is one int: the number of calls in flight in the low bits, and a closed flag above them.
 */
public final class Fd implements AutoCloseable {
    private static final int CLOSED = 1 << 31;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(Fd.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final int number;
    private final String description;
    private final LeakDetector.Entry leak;

    @SuppressWarnings("unused") // through STATE
    private volatile int state;

    private Fd(Kernel kernel, int number, String description) {
        this.number = number;
        this.description = description;
        this.leak =
                LeakDetector.watch(this, description, () -> kernel.execute(new FileCommand.Close(number, description)));
    }

    /**
     * Takes ownership of a number that the kernel just returned.
     *
     * @param description a description for messages: {@code map "events"}
     */
    public static Fd of(Kernel kernel, int number, String description) {
        return new Fd(kernel, number, description);
    }

    /** Passes this descriptor to the factory of an owner that closes it; closes it here if the factory fails. */
    public <T> T ownedBy(Function<Fd, T> factory) {
        try {
            return factory.apply(this);
        } catch (RuntimeException | Error e) {
            UndoStack.of(this::close).closeAfter(e);
            throw e;
        }
    }

    /** A second descriptor of the file, close-on-exec, which the caller closes. */
    public Fd duplicate(Kernel kernel) {
        int held = hold();
        try {
            return kernel.execute(new FileCommand.Duplicate(held, description));
        } finally {
            release();
        }
    }

    /** A description for messages: {@code map "events"}. */
    public String description() {
        return description;
    }

    /**
     * The number. It refers to this file only while the caller holds it, or if the owner does not close it.
     *
     * @throws IllegalStateException if closed
     */
    public int number() {
        if (isClosed()) {
            throw closed();
        }
        return number;
    }

    public boolean isClosed() {
        return (int) STATE.getAcquire(this) < 0;
    }

    /**
     * Keeps the number open until {@link #release}, which must follow.
     *
     * @return the number
     * @throws IllegalStateException if closed
     */
    public int hold() {
        while (true) {
            int current = (int) STATE.getAcquire(this);
            if (current < 0) {
                throw closed();
            }
            if (STATE.compareAndSet(this, current, current + 1)) {
                return number;
            }
        }
    }

    /** Ends a {@link #hold}; the last release of a closed file descriptor releases the number. */
    public void release() {
        int before = (int) STATE.getAndAdd(this, -1);
        if (before == (CLOSED | 1)) {
            leak.close();
        }
    }

    /** Releases the number as soon as no call is in flight. A second close has no effect. */
    @Override
    public void close() {
        int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
        if (before == 0) {
            leak.close();
        }
    }

    private IllegalStateException closed() {
        return new IllegalStateException(description + " is closed");
    }

    @Override
    public String toString() {
        return description + " (fd " + number + (isClosed() ? ", closed)" : ")");
    }
}
