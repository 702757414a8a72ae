package io.bpf4j.loader.ring;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Mapping;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads the records that BPF programs write to one or several ring buffer maps.
 *
 * <pre>{@code
 * Codec<Event> events = obj.codec(Event.class, "event"); // a record, compared with the object's struct event
 * try (RingBuffer ring = RingBuffer.open(obj.map("events"))) {
 *   while (running) {
 *     ring.poll(Duration.ofMillis(100), events, this::onEvent);
 *   }
 * }
 * }</pre>
 *
 * <p><i>Single consumer:</i> only one thread at a time may call {@link #poll} and {@link #consume}; a second thread
 * gets an IllegalStateException, and so does a handler that calls them. {@link #wakeup}, {@link #close} and {@link
 * #stats} may be called from any thread, handlers included.
 *
 * <p>Records are read in the memory that the kernel writes, without a copy and without a system call, until the ring is
 * empty; only then does poll wait. A {@link RawRecordHandler} gets records without allocation. The other handlers get
 * one memory segment, or one Java object, for each record.
 *
 * <p>If a handler throws, its record counts as read, poll ends and passes the exception on, and the next poll resumes
 * with the next record.
 *
 * <p>The ring holds its own reference to the maps' memory: it must be closed, and may outlive the object of the maps.
 */
public final class RingBuffer implements AutoCloseable {
    private record Ring(BpfMap map, RingConsumer consumer) {}

    private final List<Ring> rings;
    private final RingPoll poll;

    private RingBuffer(List<Ring> rings, RingPoll poll) {
        this.rings = rings;
        this.poll = poll;
    }

    /**
     * Starts to read the given maps.
     *
     * @throws IllegalArgumentException if a map is not a ring buffer
     * @throws io.bpf4j.loader.error.SyscallException if the kernel refuses; nothing stays open
     */
    public static RingBuffer open(BpfMap map, BpfMap... more) {
        List<KernelMap> maps = new ArrayList<>();
        maps.add(ringMap(map));
        for (BpfMap another : more) {
            maps.add(ringMap(another));
        }
        RingPoll poll = new RingPoll(maps.getFirst().kernel(), "ring buffer", map.name());
        try {
            List<Ring> rings = new ArrayList<>();
            for (KernelMap each : maps) {
                rings.add(new Ring(each, map(each, poll)));
                poll.watch(each.fd(), rings.size() - 1L);
            }
            return new RingBuffer(List.copyOf(rings), poll);
        } catch (RuntimeException e) {
            throw poll.closeAfter(e);
        }
    }

    private static KernelMap ringMap(BpfMap map) {
        if (map.typeNumber() != MapType.RINGBUF.number()) {
            throw new IllegalArgumentException(map + " is not a ring buffer");
        }
        return KernelMap.of(map);
    }

    private static RingConsumer map(KernelMap map, RingPoll poll) {
        long page = map.host().pageSize();
        long size = Integer.toUnsignedLong(map.maxEntries());
        Mapping own = poll.owned().own(map.kernel().execute(new FileCommand.Map(map.fd(), 0, page, true)));
        Mapping kernels =
                poll.owned().own(map.kernel().execute(new FileCommand.Map(map.fd(), page, page + 2 * size, false)));
        return new RingConsumer(
                own.segment(),
                kernels.segment().asSlice(0, page),
                kernels.segment().asSlice(page, 2 * size));
    }

    /**
     * Passes the available records to the handler; if there are none, waits for some first.
     *
     * <p>Returns after one pass over all rings, so that a producer that never pauses can't block it forever. An
     * interrupt of the thread does not end the wait; {@link #wakeup} does. A virtual thread may poll: a platform thread
     * waits in its place, and its carrier is free for other threads.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return number of records; 0 after the timeout, or after {@link #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is polling
     */
    public int poll(Duration timeout, RecordHandler handler) {
        return pollEach(timeout, _ -> unwrap(handler));
    }

    /** {@link #poll(Duration, RecordHandler)} without an object for each record. */
    public int poll(Duration timeout, RawRecordHandler handler) {
        return pollEach(timeout, _ -> handler);
    }

    /** {@link #poll(Duration, RecordHandler)} for several rings, with the map of each record. */
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

    /**
     * Passes the available records to the handler, and never waits; otherwise as {@link #poll(Duration,
     * RecordHandler)}.
     */
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
        return poll.poll(timeout, () -> consumeAll(handlers));
    }

    private int consumeAll(HandlerOf handlers) {
        int handled = 0;
        for (Ring ring : rings) {
            handled += ring.consumer.consume(handlers.ring(ring), poll::isClosed);
        }
        return handled;
    }

    /** Ends the current wait of a poll at once, or else the next one. Does nothing after close. */
    public void wakeup() {
        poll.wakeup();
    }

    /** Statistics of the records read so far, all rings together. */
    public RingStats stats() {
        long records = 0;
        long bytes = 0;
        long discarded = 0;
        for (Ring ring : rings) {
            records += ring.consumer.records();
            bytes += ring.consumer.bytes();
            discarded += ring.consumer.discarded();
        }
        return new RingStats(records, bytes, discarded, poll.waits());
    }

    /**
     * Bytes that programs have written and this consumer has not yet read, headers included, all rings together.
     *
     * @throws IllegalStateException if closed
     */
    public long pendingBytes() {
        return rings.stream().mapToLong(ring -> ring.consumer.pending()).sum();
    }

    public boolean isClosed() {
        return poll.isClosed();
    }

    /**
     * Releases everything. A poll on another thread is woken; this method waits until it returns, after its handler's
     * current record. If a handler calls this method, it takes effect when that poll ends. A second call does nothing.
     */
    @Override
    public void close() {
        poll.close();
    }
}
