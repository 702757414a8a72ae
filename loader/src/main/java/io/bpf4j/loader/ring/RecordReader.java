package io.bpf4j.loader.ring;

import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.Descriptor;
import io.bpf4j.sys.internal.call.UndoStack;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/**
 * Reads the records that BPF programs write.
 *
 * <p><i>Single consumer:</i> only one thread at a time may call {@link #poll} and {@link #consume}; a second thread
 * gets an IllegalStateException, and so does a handler that calls them. {@link #wakeup}, {@link #close} and {@link
 * #stats} may be called from any thread, handlers included.
 *
 * <p>Records are read in the memory that the kernel writes, without a copy and without a system call, until there are
 * none; only then does poll wait. A {@link RecordHandler} gets records without allocation. The other handlers get one
 * memory segment, or one Java object, for each record.
 *
 * <p>If a handler throws, its record counts as read, poll ends and passes the exception on, and the next poll resumes
 * with the next record.
 *
 * <p>It holds its own reference to the memory: it must be closed, and may outlive the object of the maps.
 *
 * <p>An interrupt of the thread that polls ends its wait, as {@link #wakeup} does, and the thread stays interrupted; as
 * long as it is, a poll does not wait. A poll after {@link #close} throws an exception. A {@link RecordLoop} polls in a
 * thread of its own until it is stopped.
 *
 * <p>Tested by {@code RingBufferOnKernelTest} and {@code PerfBufferOnKernelTest}.
 */
public abstract sealed class RecordReader implements AutoCloseable permits RingBuffer, PerfBuffer {
    /**
     * Statistics of the records read so far. <i>Immutable.</i>
     *
     * @param records records passed to the handler
     * @param bytes bytes of those records, padding of perf buffers included
     * @param discarded records that the program discarded; 0 for a perf buffer
     * @param lost records that did not fit into a perf buffer, as far as the kernel has reported: it reports them when
     *     the ring has space again. 0 for a ring buffer: the program that failed to write them must count them
     * @param waits number of times that the consumer waited
     */
    public record Stats(long records, long bytes, long discarded, long lost, long waits) {}

    /** A century: practically unlimited, and does not overflow. */
    private static final long MAX_TIMEOUT_NANOS = TimeUnit.DAYS.toNanos(36_500);

    /**
     * Nanoseconds between two checks for records while reading early. A program writes a record in some 100 ns, so less
     * than a kilobyte arrives meanwhile. Without a pause, the checks would take the cache line of the program's position
     * from its CPU.
     */
    private static final long CHECK_NANOS = 500;

    /**
     * Nanoseconds of checking without finding a record, after which a reader that reads early sleeps. The program may be
     * waiting for this CPU: the kernel may run both on one, though another is idle, as long as neither sleeps.
     */
    private static final long MAX_CHECKING_NANOS = 3_000;

    /** Number of checks for the end of a record that a program is writing, before waiting a millisecond for it. */
    private static final int MAX_SPINS = 100;

    /** With one CPU, a thread that spins would keep the programs from writing. */
    private static final boolean SEVERAL_CPUS = Runtime.getRuntime().availableProcessors() > 1;

    private final String kind;
    private final List<? extends RecordConsumer> consumers;
    private final Waiter waiter; // closed only while holding consuming
    private final IntFunction<String> nameOf;
    private final boolean holdsBack;
    private final Pace pace;

    /** Whether the wake-up events from before the load have been read. */
    private boolean drained;

    /** Held while polling: allows one consumer at a time, and makes close wait for it. */
    private final ReentrantLock consuming = new ReentrantLock();

    /** Whether the handler has ended the pass; of the thread that polls. */
    private boolean stopped;

    /** Whether other code waits for the descriptor of the waiter. */
    private volatile boolean waitedForElsewhere;

    private volatile boolean closed;
    private boolean freed;
    private volatile long waits;

    /**
     * A reader that is ready.
     *
     * @param kind for messages: {@code ring buffer}
     * @param waiter waits for the rings, and closes them
     * @param nameOf names a source for messages: {@code ring buffer events}
     */
    RecordReader(String kind, List<? extends RecordConsumer> consumers, Waiter waiter, IntFunction<String> nameOf) {
        this.kind = kind;
        this.consumers = List.copyOf(consumers);
        this.waiter = waiter;
        this.nameOf = nameOf;
        this.holdsBack = this instanceof RingBuffer;
        this.pace = new Pace(
                consumers.stream().mapToLong(RecordConsumer::capacity).min().orElse(0));
    }

    /**
     * Passes the available records to the handler; if there are none, waits for some first.
     * <p>While 64 records or more arrive per millisecond, a call first waits up to a millisecond, less for a small ring
     * buffer. Otherwise programs would wake the reader for nearly every record, which costs both more than the record.
     * A single record is handled at once. A wake-up that a program forces ({@code BPF_RB_FORCE_WAKEUP}) ends this wait;
     * for ten milliseconds after it, calls check for records every half microsecond instead, and sleep when a few checks
     * have found none.
     *
     * <p>Returns after one pass over all rings, so that a producer that never pauses can't block it forever. {@link
     * #wakeup} ends the wait, and so does an interrupt of the thread, which stays interrupted. A virtual thread may
     * poll: a platform thread waits in its place, and its carrier is free for other threads.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return number of records; 0 after the timeout, an interrupt, {@link #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is polling
     */
    public int poll(Duration timeout, RecordHandler handler) {
        if (consuming.isHeldByCurrentThread()) {
            throw new IllegalStateException("a record handler can't read its own " + kind);
        }
        if (!consuming.tryLock()) {
            requireOpen();
            throw new IllegalStateException("another thread reads this " + kind + "; it has a single consumer");
        }
        try {
            requireOpen();
            stopped = false;
            if (timeout.isPositive()) {
                return pollPaced(timeout, handler);
            }
            if (waitedForElsewhere) {
                waiter.await(0); // before the pass: the descriptor is ready again only for what comes afterwards
            }
            return pass(handler, false);
        } finally {
            try {
                if (closed) {
                    free();
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

    /** A timeout to subtract elapsed times from, which is not negative. */
    static long nanos(Duration timeout) {
        return Math.clamp(TimeUnit.NANOSECONDS.convert(timeout), 0, MAX_TIMEOUT_NANOS);
    }

    /** Handles the available records after the pause that the load requires; if there are none, waits. */
    private int pollPaced(Duration timeout, RecordHandler handler) {
        long start = System.nanoTime();
        long limit = nanos(timeout);
        boolean woken;
        int handled;
        long now;
        do {
            woken = pause(limit - (System.nanoTime() - start));
            handled = pass(handler, holdsBack && pace.pause() > 0);
            now = System.nanoTime();
        } while (handled == 0
                && !woken
                && !closed
                && now - start < Math.min(limit, MAX_CHECKING_NANOS)
                && pace.isEarly(now));
        return handled > 0 || woken ? handled : sleep(start, limit, handler);
    }

    /** Waits before a pass, if there is load. Returns whether {@link #wakeup} ended the wait. */
    private boolean pause(long limit) {
        long pause = Math.min(pace.pause(), limit);
        if (pause <= 0) {
            drained = false;
            return false;
        }
        if (!holdsBack) {
            LockSupport.parkNanos(pause);
            return false;
        }
        long now = System.nanoTime();
        if (SEVERAL_CPUS && pace.isEarly(now)) {
            while (System.nanoTime() - now < Math.min(pause, CHECK_NANOS) && !closed) {
                Thread.onSpinWait();
            }
            return false;
        }
        if (pause < Pace.MAX_PAUSE) {
            LockSupport.parkNanos(pause); // epoll counts in milliseconds
        }
        int ready = waiter.await(pause < Pace.MAX_PAUSE ? 0 : pause);
        // Since the last record is held back, only a forced wake-up is new. The first one may be older.
        if (ready > 0 && drained) {
            pace.forced(System.nanoTime());
        }
        drained = true;
        return ready == Waiter.WOKEN;
    }

    /**
     * Handles the available records, without waiting.
     *
     * @param holdBack whether the last record may be released later
     */
    private int pass(RecordHandler handler, boolean holdBack) {
        int handled = 0;
        long bytes = 0;
        for (RecordConsumer consumer : consumers) {
            long before = consumer.bytes;
            handled += consumer.consume(handler, this::isEnded, holdBack);
            bytes += consumer.bytes - before;
        }
        pace.passed(handled, bytes + (long) RingConsumer.HEADER_SIZE * handled, System.nanoTime());
        if (holdBack && pace.pause() == 0) {
            release();
        }
        return handled;
    }

    private boolean isEnded() {
        return closed || stopped;
    }

    private void release() {
        for (RecordConsumer consumer : consumers) {
            consumer.release();
        }
    }

    /**
     * Waits, until a pass finds records or the timeout expires.
     *
     * <p>A ring buffer's event comes once (EPOLLET), so no record may be left for which no other event comes. All space
     * is released first: a program whose record is at the consumer's position then wakes this thread. Then each wait
     * follows a pass that found nothing. A record that is reserved and not finished ends the pass before later records,
     * whose events may have come already; so the wait is short in this case.
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private int sleep(long start, long limit, RecordHandler handler) {
        release();
        drained = false; // a program whose record is at the position now wakes this thread without being forced to
        int spins = 0;
        int ready = 0;
        while (!closed) {
            int handled = pass(handler, false);
            if (handled > 0 || ready == Waiter.WOKEN) {
                return handled;
            }
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) {
                // The pass was the last: programs may write without waking anyone (BPF_RB_NO_WAKEUP).
                return 0;
            }
            boolean unfinished = holdsBack && pending() > 0;
            if (unfinished && spins++ < MAX_SPINS) {
                // The program is writing on another CPU, for nanoseconds.
                Thread.onSpinWait();
                continue;
            }
            waits++;
            ready = waiter.await(unfinished ? Math.min(left, Pace.MAX_PAUSE) : left);
            if (ready != 0) {
                spins = 0;
            }
        }
        return 0;
    }

    private void freeWhenIdle() {
        consuming.lock();
        try {
            free();
        } finally {
            consuming.unlock();
        }
    }

    /** Called while holding {@link #consuming}. */
    private void free() {
        if (!freed) {
            freed = true;
            release(); // the next reader of the map does not get a record twice
        }
        waiter.owned().close();
    }

    /**
     * {@link #poll(Duration, RecordHandler)} with a memory segment for each record: its bytes, read-only, in the memory
     * shared with the kernel. It is valid until the handler returns; then the kernel may overwrite it. Its start is
     * aligned to 8 bytes, or to 4 in a perf buffer.
     */
    public int poll(Duration timeout, Consumer<? super MemorySegment> handler) {
        return poll(timeout, (_, data, offset, size) -> handler.accept(data.asSlice(offset, size)));
    }

    /**
     * {@link #poll(Duration, RecordHandler)} with a Java value for each record.
     *
     * @throws IllegalArgumentException if a record is shorter than the codec's type; it counts as read
     */
    public <T> int poll(Duration timeout, Codec<T> codec, Consumer<? super T> handler) {
        return poll(timeout, (source, data, offset, size) -> {
            if (size < codec.size()) {
                throw new IllegalArgumentException("a record of " + size + " bytes in " + nameOf.apply(source)
                        + ", but the codec needs " + codec.size());
            }
            handler.accept(codec.decode(data, offset));
        });
    }

    /**
     * Passes the available records to the handler, and never waits; otherwise as {@link #poll(Duration,
     * RecordHandler)}.
     */
    public int consume(RecordHandler handler) {
        return poll(Duration.ZERO, handler);
    }

    /** {@link #consume(RecordHandler)} with a memory segment for each record. */
    public int consume(Consumer<? super MemorySegment> handler) {
        return poll(Duration.ZERO, handler);
    }

    /** {@link #consume(RecordHandler)} with a Java value for each record. */
    public <T> int consume(Codec<T> codec, Consumer<? super T> handler) {
        return poll(Duration.ZERO, codec, handler);
    }

    /**
     * {@link #consume(RecordHandler)}, but at most so many records; the next call goes on with the next one.
     *
     * @throws IllegalArgumentException if the number is not positive
     */
    public int consume(int most, RecordHandler handler) {
        if (most <= 0) {
            throw new IllegalArgumentException(most + " records: there must be at least one");
        }
        int[] left = {most};
        return consume((source, data, offset, size) -> {
            stopped |= --left[0] == 0;
            handler.onRecord(source, data, offset, size);
        });
    }

    /**
     * Ends the poll whose handler calls this, after the current record: the poll returns, and the next one goes on with
     * the next record.
     *
     * @throws IllegalStateException if no handler of this reader calls it; {@link #wakeup} is for other threads
     */
    public void stop() {
        if (!consuming.isHeldByCurrentThread()) {
            throw new IllegalStateException("only a record handler can stop the poll that it is called by");
        }
        stopped = true;
    }

    /**
     * A descriptor that other code can wait for by poll(2) or epoll(7), such as an event loop with other descriptors: it
     * is readable when a program has woken the reader, or {@link #wakeup} was called. Then call {@link
     * #consume(RecordHandler)} until it returns 0. Nobody must read from it. The caller must close it; it ends with the
     * reader, not before.
     *
     * @throws IllegalStateException if closed
     */
    public Descriptor descriptor() {
        requireOpen();
        Descriptor descriptor = waiter.descriptor();
        waitedForElsewhere = true;
        return descriptor;
    }

    /** Ends the current wait of a poll at once, or else the next one. Does nothing after close. */
    public void wakeup() {
        waiter.wake();
    }

    /** Statistics of the records read so far, all rings together. */
    public Stats stats() {
        long records = 0;
        long bytes = 0;
        long discarded = 0;
        long lost = 0;
        for (RecordConsumer consumer : consumers) {
            records += consumer.records;
            bytes += consumer.bytes;
            discarded += consumer.discarded;
            lost += consumer.lost;
        }
        return new Stats(records, bytes, discarded, lost, waits);
    }

    /**
     * Bytes that programs have written and this consumer has not yet read, headers included, all rings together.
     *
     * @throws IllegalStateException if closed
     */
    public long pendingBytes() {
        requireOpen();
        return pending();
    }

    private long pending() {
        long pending = 0;
        for (RecordConsumer consumer : consumers) {
            pending += consumer.pending();
        }
        return pending;
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * Releases everything. A poll on another thread is woken; this method waits until it returns, after its handler's
     * current record. If a handler calls this method, it takes effect when that poll ends. A second call does nothing.
     *
     * @throws io.bpf4j.sys.SyscallException if something can't be released, such as a ring in a frozen map of
     *     perf events; everything else is released nevertheless
     */
    @Override
    public void close() {
        boolean first = !closed;
        closed = true;
        if (consuming.isHeldByCurrentThread()) {
            return; // the enclosing poll releases
        }
        try (UndoStack all = UndoStack.of(this::freeWhenIdle)) {
            if (first) {
                all.push(waiter::wake);
            }
        }
    }
}
