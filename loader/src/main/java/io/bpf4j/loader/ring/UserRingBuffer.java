package io.bpf4j.loader.ring;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.Mapping;
import io.bpf4j.sys.internal.call.UndoStack;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Writes records for BPF programs into a map of type {@link MapType#USER_RINGBUF} (Linux 6.1), from which a program
 * takes them with {@code bpf_user_ringbuf_drain}. A record does not trigger the program: the program drains the ring
 * when it runs next.
 *
 * <pre>{@code
 * try (UserRingBuffer ring = UserRingBuffer.open(obj.map("orders"))) {
 *   ring.submit(obj.codec(Order.class, "order"), new Order(7, 100));
 *   try (UserRingBuffer.Sample sample = ring.reserve(16).orElseThrow()) {
 *     sample.data().set(ValueLayout.JAVA_LONG, 0, 42);
 *     sample.submit();                                        // without this, closing discards it
 *   }
 * }
 * }</pre>
 *
 * <p><i>Thread-safe:</i> several threads may reserve and finish records; programs get them in the order of reserving. A
 * record that is reserved and not finished blocks all later records.
 *
 * <p>It holds its own reference to the map's memory: it must be closed, and may outlive the object of the map.
 * Submitted records stay for programs to read.
 */
public final class UserRingBuffer implements AutoCloseable {
    private final String name;
    private final UserRingProducer producer;
    private final Waiter waiter; // closed only while holding waiting

    /** Held while reserving, so that positions move in order. */
    private final Object reserving = new Object();

    /** Held while waiting for space: one thread waits in the kernel, the others wait for this lock. */
    private final ReentrantLock waiting = new ReentrantLock();

    private volatile boolean closed;

    private UserRingBuffer(String name, UserRingProducer producer, Waiter waiter) {
        this.name = name;
        this.producer = producer;
        this.waiter = waiter;
    }

    /**
     * Opens a map for writing records.
     *
     * @throws IllegalArgumentException if it is not a user ring buffer
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; nothing stays open
     */
    public static UserRingBuffer open(BpfMap map) {
        if (map.typeNumber() != MapType.USER_RINGBUF.number()) {
            throw new IllegalArgumentException(map + " is not a user ring buffer");
        }
        KernelMap own = KernelMap.of(map);
        Kernel kernel = own.kernel();
        long page = own.host().pageSize();
        long size = Integer.toUnsignedLong(map.maxEntries());
        Waiter waiter = new Waiter(kernel, "user ring buffer " + map.name());
        UndoStack owned = waiter.owned();
        try {
            Mapping consumer = owned.own(kernel.execute(new FileCommand.Map(own.fd(), 0, page, false)));
            Mapping rest = owned.own(kernel.execute(new FileCommand.Map(own.fd(), page, page + 2 * size, true)));
            // Edge-triggered: wakes once each time a program frees space. Level-triggered would wake as long as there
            // is space.
            waiter.watch(own.fd(), 0, EpollEvent.WRITABLE | EpollEvent.EDGE_TRIGGERED);
            UserRingProducer producer = new UserRingProducer(
                    consumer.segment().asReadOnly(),
                    rest.segment().asSlice(0, page),
                    rest.segment().asSlice(page, 2 * size));
            return new UserRingBuffer(map.name(), producer, waiter);
        } catch (RuntimeException | Error e) {
            owned.closeAfter(e);
            throw e;
        }
    }

    /**
     * A record being written. It must be submitted, discarded or closed, by one thread. <i>Confined.</i>
     *
     * <p>Its memory belongs to the ring: it must not be used after that, nor after closing the ring.
     */
    public final class Sample implements AutoCloseable {
        private final long at;
        private final int size;
        private boolean done;

        private Sample(long at, int size) {
            this.at = at;
            this.size = size;
        }

        /**
         * The record's bytes, for the caller to fill. They initially hold data of earlier records. Aligned to 8 bytes.
         *
         * @throws IllegalStateException if it has been finished
         */
        public MemorySegment data() {
            requireUnfinished();
            return producer.payload(at, size);
        }

        /**
         * Submits the record to programs.
         *
         * @throws IllegalStateException if it has been finished
         */
        public void submit() {
            requireUnfinished();
            finish(false);
        }

        private void requireUnfinished() {
            if (done) {
                throw new IllegalStateException(
                        "this record of user ring buffer " + name + " has been submitted or discarded");
            }
        }

        /** Discards the record; programs skip it. Does nothing if it has been finished. */
        public void discard() {
            if (!done) {
                finish(true);
            }
        }

        private void finish(boolean discard) {
            done = true;
            producer.finish(at, size, discard);
        }

        /** {@link #discard}, unless it was submitted or the ring is closed. */
        @Override
        public void close() {
            if (!closed) {
                discard();
            }
        }
    }

    /**
     * Reserves a record.
     *
     * @param size bytes, up to the size of the ring less 8
     * @return empty if the ring has no space now
     * @throws IllegalArgumentException if the record can never fit
     * @throws IllegalStateException if closed
     */
    public Optional<Sample> reserve(int size) {
        if (size < 0 || size > producer.maxSize()) {
            throw new IllegalArgumentException("a record of " + size + " bytes does not fit in user ring buffer " + name
                    + ": the maximum is " + producer.maxSize() + " bytes");
        }
        synchronized (reserving) {
            requireOpen();
            long at = producer.reserve(size);
            return at < 0 ? Optional.empty() : Optional.of(new Sample(at, size));
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("user ring buffer " + name + " is closed");
        }
    }

    /**
     * Reserves a record, and waits until a program has freed space for it. Programs that drain with {@code
     * BPF_RB_NO_WAKEUP} do not end the wait.
     *
     * @param timeout how long to wait at most
     * @return empty after the timeout, or if the thread was interrupted; its interrupt flag stays set
     * @throws IllegalStateException if closed, also while it waits
     */
    public Optional<Sample> reserve(int size, Duration timeout) {
        long start = System.nanoTime();
        long limit = RecordReader.nanos(timeout);
        Optional<Sample> sample = reserve(size);
        if (sample.isPresent() || !lock(limit)) {
            return sample;
        }
        try {
            for (sample = reserve(size); sample.isEmpty(); sample = reserve(size)) {
                long left = limit - (System.nanoTime() - start);
                if (left <= 0) {
                    return Optional.empty();
                }
                if (waiter.await(left) == Waiter.WOKEN && Thread.currentThread().isInterrupted()) {
                    return Optional.empty();
                }
            }
            return sample;
        } finally {
            waiting.unlock();
        }
    }

    private boolean lock(long nanos) {
        try {
            return waiting.tryLock(nanos, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /**
     * Writes a record.
     *
     * @return false if the ring has no space now
     */
    public boolean submit(byte[] record) {
        return submit(Codec.ofBytes(record.length), record);
    }

    /**
     * Writes a Java value as a record.
     *
     * @return false if the ring has no space now
     */
    public <T> boolean submit(Codec<T> codec, T value) {
        Optional<Sample> reserved = reserve(Math.toIntExact(codec.size()));
        if (reserved.isEmpty()) {
            return false;
        }
        // Closes the sample without submitting if the codec refuses the value.
        try (Sample sample = reserved.get()) {
            codec.encode(value, sample.data(), 0);
            sample.submit();
            return true;
        }
    }

    /**
     * Bytes not yet read by programs, headers included.
     *
     * @throws IllegalStateException if closed
     */
    public long pendingBytes() {
        requireOpen();
        return producer.pending();
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * Releases everything; threads that wait for space get an IllegalStateException. A second call only waits for the
     * first to complete.
     */
    @Override
    public void close() {
        boolean first;
        synchronized (reserving) {
            first = !closed;
            closed = true;
        }
        try (UndoStack all = UndoStack.of(this::freeWhenIdle)) {
            if (first) {
                all.push(waiter::wake);
            }
        }
    }

    private void freeWhenIdle() {
        waiting.lock();
        try {
            waiter.owned().close();
        } finally {
            waiting.unlock();
        }
    }
}
