package io.bpf4j.loader.ring;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.bpf4j.loader.internal.linux.PageSize;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.EpollEvent;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.Mapping;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Reads the records that BPF programs put into ring buffer maps, one or several together.
 *
 * <pre>{@code
 * try (RingBuffer ring = RingBuffer.open(obj.map("events"))) {
 *   while (running) {
 *     ring.poll(Duration.ofMillis(100), Codec.ofRecord(Event.class), this::onEvent);
 *   }
 * }
 * }</pre>
 *
 * <p><i>Single consumer:</i> {@link #poll} and {@link #consume} are for one thread at a time; a second one gets an
 * IllegalStateException, and so does a handler that calls them. {@link #wakeup}, {@link #close} and {@link #stats} may be
 * called from any thread, handlers included.
 *
 * <p>Records are read in the memory that the kernel writes, without a copy and without a system call, until the ring is
 * empty; only then does poll sleep. Nothing is allocated for a record on the way to a {@link RawRecordHandler}. The
 * convenience of one memory segment, or one Java object, for each record costs that object.
 *
 * <p>If a handler throws, its record counts as read, poll ends and passes the exception on, and the next poll goes on
 * with the record behind.
 *
 * <p>The ring has its own hold on the maps' memory: it must be closed, and may outlive the object of the maps.
 */
public final class RingBuffer implements AutoCloseable {
    private static final int EVENTS = 16;

    /** What the eventfd is registered with; rings have the numbers from 0. */
    private static final long WAKEUP = -1;

    private record Ring(BpfMap map, RingConsumer consumer) {}

    private final Kernel kernel;
    private final List<Ring> rings;
    private final Fd epoll;
    private final Fd wakeup;
    private final List<AutoCloseable> owned;
    private final MemorySegment events;
    private final MemorySegment counter;

    /** Held while polling: makes the consumer single, and close wait for it. */
    private final ReentrantLock consuming = new ReentrantLock();

    private volatile boolean closed;
    private boolean released; // guarded by consuming
    private volatile long waits;

    private RingBuffer(Kernel kernel, List<Ring> rings, Fd epoll, Fd wakeup, List<AutoCloseable> owned) {
        this.kernel = kernel;
        this.rings = rings;
        this.epoll = epoll;
        this.wakeup = wakeup;
        this.owned = owned;
        // Automatic: each poll may come from another thread, and a few bytes need no closing.
        this.events = Arena.ofAuto().allocate((long) EVENTS * EpollEvent.SIZE, 8);
        this.counter = Arena.ofAuto().allocate(Long.BYTES, 8);
    }

    /**
     * Starts to read the given maps.
     *
     * @throws IllegalArgumentException if one is not a ring buffer
     * @throws io.bpf4j.loader.error.SyscallException if the kernel refuses; nothing stays open
     */
    public static RingBuffer open(BpfMap map, BpfMap... more) {
        List<KernelMap> maps = new ArrayList<>();
        maps.add(ringMap(map));
        for (BpfMap another : more) {
            maps.add(ringMap(another));
        }
        Kernel kernel = maps.getFirst().kernel();
        Deque<AutoCloseable> opened = new ArrayDeque<>();
        try {
            String what = "ring buffer " + map.name();
            Fd epoll = opened(opened, kernel.execute(new FileCommand.EpollCreate(what)));
            Fd wakeup = opened(opened, kernel.execute(new FileCommand.Eventfd(what)));
            kernel.execute(new FileCommand.EpollAdd(epoll, wakeup, WAKEUP));
            List<Ring> rings = new ArrayList<>();
            for (KernelMap each : maps) {
                rings.add(new Ring(each, map(each, opened)));
                kernel.execute(new FileCommand.EpollAdd(epoll, each.fd(), rings.size() - 1L));
            }
            return new RingBuffer(kernel, List.copyOf(rings), epoll, wakeup, List.copyOf(opened));
        } catch (RuntimeException e) {
            closeAll(opened);
            throw e;
        }
    }

    private static KernelMap ringMap(BpfMap map) {
        if (map.typeNumber() != MapType.RINGBUF.number()) {
            throw new IllegalArgumentException(map + " is not a ring buffer");
        }
        return KernelMap.of(map);
    }

    private static RingConsumer map(KernelMap map, Deque<AutoCloseable> opened) {
        long page = PageSize.bytes();
        long size = Integer.toUnsignedLong(map.maxEntries());
        Mapping own = opened(opened, map.kernel().execute(new FileCommand.Map(map.fd(), 0, page, true)));
        Mapping kernels =
                opened(opened, map.kernel().execute(new FileCommand.Map(map.fd(), page, page + 2 * size, false)));
        return new RingConsumer(
                own.segment(),
                kernels.segment().asSlice(0, page),
                kernels.segment().asSlice(page, 2 * size));
    }

    /** Remembers, in the order in which to close. */
    private static <T extends AutoCloseable> T opened(Deque<AutoCloseable> opened, T resource) {
        opened.addFirst(resource);
        return resource;
    }

    /**
     * Hands out the records that are there; if there are none, waits for some first.
     *
     * <p>Returns after one pass over all rings, so that a producer that never pauses can't keep it for ever. An interrupt
     * of the thread does not end the wait; {@link #wakeup} does.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return records handed out; 0 if the time was up, or after {@link #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is in here
     */
    public int poll(Duration timeout, RecordHandler handler) {
        return pollEach(timeout, _ -> unwrap(handler));
    }

    /** {@link #poll(Duration, RecordHandler)} without an object for each record. */
    public int poll(Duration timeout, RawRecordHandler handler) {
        return pollEach(timeout, _ -> handler);
    }

    /** {@link #poll(Duration, RecordHandler)} for several rings, each record with the map it came through. */
    public int poll(Duration timeout, SourcedRecordHandler handler) {
        return pollEach(timeout, ring -> unwrap(record -> handler.onRecord(ring.map, record)));
    }

    /**
     * {@link #poll(Duration, RecordHandler)} with a Java value for each record.
     *
     * @throws IllegalArgumentException if a record is shorter than the codec's type; it counts as read
     */
    public <T> int poll(Duration timeout, Codec<T> codec, Consumer<? super T> handler) {
        return pollEach(timeout, ring -> decoding(ring, codec, handler));
    }

    /** Hands out the records that are there, and never waits; otherwise as {@link #poll(Duration, RecordHandler)}. */
    public int consume(RecordHandler handler) {
        return poll(Duration.ZERO, handler);
    }

    /** {@link #consume(RecordHandler)} without an object for each record. */
    public int consume(RawRecordHandler handler) {
        return poll(Duration.ZERO, handler);
    }

    /** {@link #consume(RecordHandler)} with a Java value for each record. */
    public <T> int consume(Codec<T> codec, Consumer<? super T> handler) {
        return poll(Duration.ZERO, codec, handler);
    }

    private interface HandlerOf {
        RawRecordHandler ring(Ring ring);
    }

    private static RawRecordHandler unwrap(RecordHandler handler) {
        return (data, offset, size) -> handler.onRecord(data.asSlice(offset, size));
    }

    private static <T> RawRecordHandler decoding(Ring ring, Codec<T> codec, Consumer<? super T> handler) {
        return (data, offset, size) -> {
            if (size < codec.size()) {
                throw new IllegalArgumentException("a record of " + size + " bytes in ring buffer " + ring.map.name()
                        + ", and a codec for " + codec.size());
            }
            handler.accept(codec.decode(data, offset));
        };
    }

    private int pollEach(Duration timeout, HandlerOf handlers) {
        if (consuming.isHeldByCurrentThread()) {
            throw new IllegalStateException("a record handler can't read its own ring buffer");
        }
        if (!consuming.tryLock()) {
            if (closed) {
                throw new IllegalStateException("the ring buffer is closed");
            }
            throw new IllegalStateException("another thread reads this ring buffer; it has a single consumer");
        }
        try {
            if (closed) {
                throw new IllegalStateException("the ring buffer is closed");
            }
            int handled = consumeAll(handlers);
            if (handled > 0 || timeout.isZero() || timeout.isNegative()) {
                return handled;
            }
            return sleep(timeout, handlers);
        } finally {
            if (closed) {
                release();
            }
            consuming.unlock();
        }
    }

    private int consumeAll(HandlerOf handlers) {
        int handled = 0;
        for (Ring ring : rings) {
            handled += ring.consumer.consume(handlers.ring(ring), () -> closed);
        }
        return handled;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one writer
    private int sleep(Duration timeout, HandlerOf handlers) {
        long start = System.nanoTime();
        // A century is for ever, and does not overflow.
        long limit = timeout.compareTo(Duration.ofDays(36_500)) > 0
                ? Duration.ofDays(36_500).toNanos()
                : timeout.toNanos();
        while (!closed) {
            long left = limit - (System.nanoTime() - start);
            if (left <= 0) {
                // Programs may write without waking anyone (BPF_RB_NO_WAKEUP).
                return consumeAll(handlers);
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
            int handled = closed ? 0 : consumeAll(handlers);
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
    public void wakeup() {
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

    /** What was read so far, all rings together. */
    public RingStats stats() {
        long records = 0;
        long bytes = 0;
        long discarded = 0;
        for (Ring ring : rings) {
            records += ring.consumer.records();
            bytes += ring.consumer.bytes();
            discarded += ring.consumer.discarded();
        }
        return new RingStats(records, bytes, discarded, waits);
    }

    /**
     * Bytes that programs have written and this has not yet read, headers included, all rings together.
     *
     * @throws IllegalStateException if closed
     */
    public long pendingBytes() {
        return rings.stream().mapToLong(ring -> ring.consumer.pending()).sum();
    }

    public boolean isClosed() {
        return closed;
    }

    /**
     * Gives everything back. A poll on another thread is woken and returns; this waits until it has, its handler's
     * current record included. Called by a handler, it takes effect when that poll ends. Does nothing the second time.
     */
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
            release();
        } finally {
            consuming.unlock();
        }
    }

    private void release() {
        if (!released) {
            released = true;
            closeAll(owned);
        }
    }

    private static void closeAll(Iterable<AutoCloseable> resources) {
        for (AutoCloseable resource : resources) {
            try {
                resource.close();
            } catch (Exception e) {
                // Fd and Mapping throw nothing checked, and nothing at all unless bpf4j itself is wrong.
                throw new IllegalStateException("closing " + resource, e);
            }
        }
    }
}
