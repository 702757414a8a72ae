package io.bpf4j.loader.ring;

import io.bpf4j.loader.error.SyscallException;
import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.internal.sys.Fd;
import io.bpf4j.loader.internal.sys.FileCommand;
import io.bpf4j.loader.internal.sys.Kernel;
import io.bpf4j.loader.internal.sys.Mapping;
import io.bpf4j.loader.internal.sys.PerfCommand;
import io.bpf4j.loader.kernel.Errno;
import io.bpf4j.loader.kernel.MapType;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.Codec;
import io.bpf4j.loader.map.UpdateMode;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Reads records that BPF programs write with {@code bpf_perf_event_output} (Linux 4.4): a ring for each online CPU, in
 * a map of type {@link MapType#PERF_EVENT_ARRAY}. On Linux 5.8 and later prefer a {@link RingBuffer}; perf buffers are
 * for older kernels, and for existing programs.
 *
 * <pre>{@code
 * Codec<Event> events = obj.codec(Event.class, "event"); // a record, compared with the object's struct event
 * try (PerfBuffer perf = PerfBuffer.open(obj.map("events"), Options.defaults().onLost((cpu, n) -> missing += n))) {
 *   while (running) {
 *     perf.poll(Duration.ofMillis(100), events, this::onEvent);
 *   }
 * }
 * }</pre>
 *
 * <p>Programs must write with {@code BPF_F_CURRENT_CPU}. Records of one CPU are in order; records of different CPUs are
 * not. A record has the program's size plus up to 7 bytes of padding, so that its size plus 4 is a multiple of 8. A
 * record is aligned to 4 bytes: read it with unaligned layouts, as a {@link Codec} does. CPUs that come online later
 * have no ring; open the buffer again for them. CPUs whose number is not below the map's {@code max_entries} have no
 * ring either: a program's write there fails with E2BIG.
 *
 * <p>A full ring loses records. {@link #stats} counts them, and {@link Options#onLost} is called at the place of the
 * loss, once the ring has room again.
 *
 * <p><i>Single consumer</i>, as {@link RingBuffer} is, with the same rules for handlers that throw, and for wakeup and
 * close from other threads. It holds its own reference to the rings: it must be closed, and may outlive the object of
 * the map.
 */
public final class PerfBuffer implements AutoCloseable {
    private final List<PerfConsumer> cpus;
    private final RingPoll poll;
    private final LostHandler lost;

    /**
     * Options to open a perf buffer. <i>Immutable.</i>
     *
     * @param pagesPerCpu pages of data for each CPU, a power of two; default 64, which is 256 KiB with pages of 4 KiB
     * @param wakeupEvents how many records a CPU writes before it wakes the consumer; default 1. Fewer records are read
     *     when the timeout of a poll expires
     * @param onLost called for lost records, by the thread that polls
     */
    public record Options(int pagesPerCpu, int wakeupEvents, LostHandler onLost) {
        private static final Options DEFAULTS = new Options(64, 1, (_, _) -> {});

        public Options {
            if (Integer.bitCount(pagesPerCpu) != 1 || pagesPerCpu < 0) {
                throw new IllegalArgumentException(pagesPerCpu + " pages for each CPU: it must be a power of two");
            }
            if (wakeupEvents < 1) {
                throw new IllegalArgumentException("waking after " + wakeupEvents + " records");
            }
        }

        public static Options defaults() {
            return DEFAULTS;
        }

        public Options pages(int perCpu) {
            return new Options(perCpu, wakeupEvents, onLost);
        }

        public Options wakeupEvery(int records) {
            return new Options(pagesPerCpu, records, onLost);
        }

        public Options onLost(LostHandler handler) {
            return new Options(pagesPerCpu, wakeupEvents, handler);
        }
    }

    private PerfBuffer(List<PerfConsumer> cpus, RingPoll poll, LostHandler lost) {
        this.cpus = cpus;
        this.poll = poll;
        this.lost = lost;
    }

    /** {@link #open(BpfMap, Options)} with the defaults. */
    public static PerfBuffer open(BpfMap map) {
        return open(map, Options.defaults());
    }

    /**
     * Creates a ring for each CPU and puts it into the map.
     *
     * @throws IllegalArgumentException if the map is not a perf event array
     * @throws SyscallException if the kernel refuses; nothing stays open
     */
    public static PerfBuffer open(BpfMap map, Options options) {
        if (map.typeNumber() != MapType.PERF_EVENT_ARRAY.number()) {
            throw new IllegalArgumentException(map + " is not a perf event array");
        }
        KernelMap own = KernelMap.of(map);
        RingPoll poll = new RingPoll(own.kernel(), "perf buffer", map.name());
        try {
            List<PerfConsumer> cpus = new ArrayList<>();
            int[] numbers = own.host()
                    .onlineCpus()
                    .numbers()
                    .filter(cpu -> Integer.compareUnsigned(cpu, map.maxEntries()) < 0)
                    .toArray();
            for (int cpu : numbers) {
                openCpu(own, cpu, options, poll, cpus);
            }
            return new PerfBuffer(List.copyOf(cpus), poll, options.onLost());
        } catch (RuntimeException e) {
            throw poll.closeAfter(e);
        }
    }

    private static void openCpu(KernelMap map, int cpu, Options options, RingPoll poll, List<PerfConsumer> cpus) {
        Kernel kernel = map.kernel();
        String what = "ring of CPU " + cpu + " of perf buffer " + map.name();
        Fd event;
        try {
            event = poll.owned().own(kernel.execute(PerfCommand.Open.output(what, cpu, options.wakeupEvents())));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENODEV) {
                return; // went offline meanwhile
            }
            throw e;
        }
        long page = map.host().pageSize();
        Mapping mapping = poll.owned().own(mapped(kernel, event, page, page * options.pagesPerCpu()));
        put(map, cpu, event);
        poll.owned().push(() -> remove(map, cpu));
        poll.watch(event, cpu);
        kernel.execute(new PerfCommand.Enable(event));
        MemorySegment memory = mapping.segment();
        cpus.add(new PerfConsumer(cpu, memory.asSlice(0, page), memory.asSlice(page)));
    }

    private static Mapping mapped(Kernel kernel, Fd event, long page, long data) {
        FileCommand.Map map = new FileCommand.Map(event, 0, page + data, true);
        try {
            return kernel.execute(map);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EPERM) {
                throw new SyscallException(
                        e.call(),
                        e.errnoNumber(),
                        "more locked memory than sysctl kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK allow without"
                                + " CAP_IPC_LOCK; ask for fewer pages");
            }
            throw e;
        }
    }

    private static void put(KernelMap map, int cpu, Fd event) {
        int number = event.hold();
        try {
            map.update(bytes(cpu), bytes(number), UpdateMode.ANY);
        } finally {
            event.release();
        }
    }

    /** Removes a ring, so that a program's write fails once no consumer exists. */
    private static void remove(KernelMap map, int cpu) {
        try {
            map.delete(bytes(cpu));
        } catch (IllegalStateException e) {
            // The map was closed first; the kernel then removes the entries that were added through it.
        }
    }

    private static byte[] bytes(int value) {
        return ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.nativeOrder())
                .putInt(value)
                .array();
    }

    /** The number of CPUs that have a ring. */
    public int cpus() {
        return cpus.size();
    }

    /**
     * Passes the available records to the handler; if there are none, waits for some first. Otherwise as {@link
     * RingBuffer#poll(Duration, RecordHandler)}.
     *
     * @param timeout how long to wait at most; zero or less not at all
     * @return number of records; 0 after the timeout, or after {@link #wakeup} or {@link #close}
     * @throws IllegalStateException if closed, or if another thread is polling
     */
    public int poll(Duration timeout, RecordHandler handler) {
        return pollEach(timeout, _ -> (data, offset, size) -> handler.onRecord(data.asSlice(offset, size)));
    }

    /**
     * {@link #poll(Duration, RecordHandler)} without an object for each record. The offset of a record is a multiple of
     * 4.
     */
    public int poll(Duration timeout, RawRecordHandler handler) {
        return pollEach(timeout, _ -> handler);
    }

    /** {@link #poll(Duration, RecordHandler)}, with the CPU of each record. */
    public int poll(Duration timeout, PerfRecordHandler handler) {
        return pollEach(
                timeout, cpu -> (data, offset, size) -> handler.onRecord(cpu.cpu(), data.asSlice(offset, size)));
    }

    /**
     * {@link #poll(Duration, RecordHandler)} with a Java value for each record.
     *
     * @throws IllegalArgumentException if a record is shorter than the codec's type; it counts as read
     */
    public <T> int poll(Duration timeout, Codec<T> codec, Consumer<? super T> handler) {
        return pollEach(timeout, cpu -> (data, offset, size) -> {
            if (size < codec.size()) {
                throw new IllegalArgumentException("a record of " + size + " bytes in the perf buffer of CPU "
                        + cpu.cpu() + ", and a codec for " + codec.size());
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

    /** {@link #consume(RecordHandler)} without an object for each record. */
    public int consume(RawRecordHandler handler) {
        return poll(Duration.ZERO, handler);
    }

    /** {@link #consume(RecordHandler)} with a Java value for each record. */
    public <T> int consume(Codec<T> codec, Consumer<? super T> handler) {
        return poll(Duration.ZERO, codec, handler);
    }

    private interface HandlerOf {
        RawRecordHandler cpu(PerfConsumer cpu);
    }

    private int pollEach(Duration timeout, HandlerOf handlers) {
        return poll.poll(timeout, () -> {
            int handled = 0;
            for (PerfConsumer cpu : cpus) {
                handled += cpu.consume(handlers.cpu(cpu), lost, poll::isClosed);
            }
            return handled;
        });
    }

    /** Ends the current wait of a poll at once, or else the next one. Does nothing after close. */
    public void wakeup() {
        poll.wakeup();
    }

    /** Statistics of the records read so far, all CPUs together. */
    public PerfStats stats() {
        long records = 0;
        long bytes = 0;
        long lostRecords = 0;
        for (PerfConsumer cpu : cpus) {
            records += cpu.records();
            bytes += cpu.bytes();
            lostRecords += cpu.lost();
        }
        return new PerfStats(records, bytes, lostRecords, poll.waits());
    }

    /**
     * Bytes that programs have written and this consumer has not yet read, headers included, all CPUs together.
     *
     * @throws IllegalStateException if closed
     */
    public long pendingBytes() {
        return cpus.stream().mapToLong(PerfConsumer::pending).sum();
    }

    public boolean isClosed() {
        return poll.isClosed();
    }

    /**
     * Removes the rings from the map and releases them, as {@link RingBuffer#close} does.
     *
     * @throws SyscallException if a ring can't be removed, for instance from a frozen map; everything is released
     *     nevertheless
     */
    @Override
    public void close() {
        poll.close();
    }
}
