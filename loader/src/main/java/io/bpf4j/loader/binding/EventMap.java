package io.bpf4j.loader.binding;

import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.ring.PerfBuffer;
import io.bpf4j.loader.ring.RecordHandler;
import io.bpf4j.loader.ring.RecordLoop;
import io.bpf4j.loader.ring.RecordReader;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.Consumer;

/**
 * A ring buffer or perf event array whose records are structs of one type. A view: the {@link BpfMap} still belongs to
 * its owner. <i>Thread-safe.</i>
 *
 * <pre>{@code
 * try (EventMap.Reader events = gc.pauses().open(pause -> System.out.println(pause.durationNs()))) {
 *     events.pollFor(Duration.ofSeconds(10));
 * }
 * }</pre>
 *
 * <p>Tested by {@code BindingsOnKernelTest}.
 *
 * @param <T> a record as a Java value
 * @param <V> a record in place
 */
public final class EventMap<T, V extends StructView> {
    private final BpfMap map;
    private final StructCodec<T, V> codec;

    private EventMap(BpfMap map, StructCodec<T, V> codec) {
        this.map = map;
        this.codec = codec;
    }

    /**
     * Reads the records of a map of type {@link MapType#RINGBUF} or {@link MapType#PERF_EVENT_ARRAY}.
     *
     * @throws IllegalArgumentException if the map is of another type
     */
    public static <T, V extends StructView> EventMap<T, V> of(BpfMap map, StructCodec<T, V> codec) {
        if (!is(map, MapType.RINGBUF) && !is(map, MapType.PERF_EVENT_ARRAY)) {
            throw new IllegalArgumentException(
                    "map \"" + map.name() + "\" is neither a ring buffer nor a perf event array");
        }
        return new EventMap<>(map, codec);
    }

    private static boolean is(BpfMap map, MapType type) {
        return map.typeNumber() == type.number();
    }

    /** The map, for a {@link RingBuffer} or {@link PerfBuffer} of your own, for instance with options. */
    public BpfMap map() {
        return map;
    }

    /**
     * Starts to read. The handler gets each record as a Java value, on the thread that polls.
     *
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; nothing stays open
     */
    public Reader open(Consumer<? super T> handler) {
        return new Reader(this, view -> handler.accept(codec.valueOf(view)));
    }

    /**
     * Starts to read, without an allocation for each record. The handler gets the same view each time; it is valid
     * until the handler returns. A view also has the elements of a flexible array at the end of the struct.
     *
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; nothing stays open
     */
    public Reader openViews(Consumer<? super V> handler) {
        return new Reader(this, handler);
    }

    /**
     * Reads on a new thread until the loop is closed. The handler gets each record as a Java value, on that thread.
     *
     * @throws io.bpf4j.sys.SyscallException if the kernel refuses; nothing stays open
     */
    public RecordLoop run(Consumer<? super T> handler) {
        return open(handler).run();
    }

    /** {@link #run} without an allocation for each record, as {@link #openViews}. */
    public RecordLoop runViews(Consumer<? super V> handler) {
        return openViews(handler).run();
    }

    /**
     * Passes records to a handler. {@link RecordReader} has the rules for threads, handlers and closing: one thread at
     * a time polls, and any thread may call the other methods.
     */
    public static final class Reader implements AutoCloseable {
        private final RecordReader records;
        private final RecordHandler handler;

        private <V extends StructView> Reader(EventMap<?, V> events, Consumer<? super V> handler) {
            Handler<V> each = new Handler<>(events.map.name(), events.codec, handler);
            this.handler = each::onRecord;
            this.records = is(events.map, MapType.RINGBUF) ? RingBuffer.open(events.map) : PerfBuffer.open(events.map);
        }

        private RecordLoop run() {
            return RecordLoop.start(records, handler);
        }

        /**
         * Passes the available records to the handler; if there are none, waits for some first.
         *
         * @param timeout how long to wait at most; zero or less not at all
         * @return number of records; 0 after the timeout, an interrupt of this thread, {@link #wakeup} or {@link
         *     #close}
         * @throws IllegalArgumentException if a record is shorter than the struct; it counts as read
         * @throws IllegalStateException if closed, or if another thread is polling
         */
        public int poll(Duration timeout) {
            return records.poll(timeout, handler);
        }

        /**
         * Passes records to the handler until the time has passed, this thread is interrupted, or {@link #wakeup} or
         * {@link #close} is called.
         *
         * @return number of records
         * @throws IllegalArgumentException if a record is shorter than the struct; it counts as read
         * @throws IllegalStateException if closed before this call, or if another thread is polling
         */
        public long pollFor(Duration time) {
            long start = System.nanoTime();
            long total = 0;
            Duration left = time;
            do {
                int handled = records.poll(left, handler);
                if (handled == 0) {
                    return total;
                }
                total += handled;
                left = time.minusNanos(System.nanoTime() - start);
            } while (left.isPositive() && !records.isClosed());
            return total;
        }

        /** Ends the current wait at once, or else the next one. Does nothing after close. */
        public void wakeup() {
            records.wakeup();
        }

        /** The underlying reader, for its statistics. This reader closes it. */
        public RecordReader records() {
            return records;
        }

        /** Releases everything, as {@link RecordReader#close}. A second call does nothing. */
        @Override
        public void close() {
            records.close();
        }
    }

    /** A handler that moves one view from record to record. */
    private static final class Handler<V extends StructView> {
        private final String map;
        private final StructCodec<?, V> codec;
        private final Consumer<? super V> handler;
        private final V view;

        Handler(String map, StructCodec<?, V> codec, Consumer<? super V> handler) {
            this.map = map;
            this.codec = codec;
            this.handler = handler;
            this.view = codec.view(MemorySegment.ofArray(new byte[(int) codec.size()]));
        }

        void onRecord(int source, MemorySegment data, long offset, int size) {
            if (size < codec.size()) {
                throw new IllegalArgumentException("map \"" + map + "\" has a record of " + size
                        + " bytes, which is shorter than its struct of " + codec.size() + " bytes");
            }
            view.moveTo(data, offset, size);
            handler.accept(view);
        }
    }
}
