package io.bpf4j.loader.ring;

import io.bpf4j.loader.internal.map.KernelMap;
import io.bpf4j.loader.map.BpfMap;
import io.bpf4j.loader.map.UpdateMode;
import io.bpf4j.sys.SyscallException;
import io.bpf4j.sys.internal.call.EpollEvent;
import io.bpf4j.sys.internal.call.FailureHints;
import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.FileCommand;
import io.bpf4j.sys.internal.call.Kernel;
import io.bpf4j.sys.internal.call.Mapping;
import io.bpf4j.sys.internal.call.PerfCommand;
import io.bpf4j.sys.internal.call.Struct;
import io.bpf4j.sys.internal.linux.CpuSet;
import io.bpf4j.sys.kernel.Errno;
import io.bpf4j.sys.kernel.MapType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads records that BPF programs write with {@code bpf_perf_event_output} (Linux 4.4): a ring for each online CPU, in
 * a map of type {@link MapType#PERF_EVENT_ARRAY}. On Linux 5.8 and later prefer a {@link RingBuffer}; perf buffers are
 * for older kernels, and for existing programs.
 *
 * <pre>{@code
 * Codec<Event> events = obj.codec(Event.class, "event"); // a record, compared with the object's struct event
 * Options options = Options.defaults().withLostHandler((cpu, n) -> missing += n);
 * try (PerfBuffer perf = PerfBuffer.open(obj.map("events"), options)) {
 *   while (running) {
 *     perf.poll(Duration.ofMillis(100), events, this::onEvent);
 *   }
 * }
 * }</pre>
 *
 * <p>Programs must write with {@code BPF_F_CURRENT_CPU}. Records of one CPU are in order; records of different CPUs are
 * not. A record has the program's size plus up to 7 bytes of padding, so that its size plus 4 is a multiple of 8. A
 * record is aligned to 4 bytes: read it with unaligned layouts, as a {@link io.bpf4j.loader.map.Codec} does. CPUs that
 * come online later have no ring; open the buffer again for them. CPUs whose number is not below the map's {@code
 * max_entries} have no ring either: a program's write there fails with E2BIG.
 *
 * <p>A full ring loses records. {@link #stats} counts them, and the handler of {@link Options#withLostHandler} is
 * called between the records before and after the loss, once the ring has space again.
 *
 * <p>{@link RecordReader} describes the rules for threads, handlers and closing.
 */
public final class PerfBuffer extends RecordReader {
    private final int cpus;

    /** Handles lost records: records that did not fit into a full ring. */
    @FunctionalInterface
    public interface LostHandler {
        /**
         * Records were lost between the previous record and the next.
         *
         * @param cpu whose ring was full
         * @param count records lost
         */
        void onLost(int cpu, long count);
    }

    /** Options to open a perf buffer. <i>Immutable.</i> */
    public static final class Options {
        private static final Options DEFAULTS = new Options(64, 1, (_, _) -> {});

        private final int pages;
        private final int wakeupEvents;
        private final LostHandler onLost;

        private Options(int pages, int wakeupEvents, LostHandler onLost) {
            this.pages = pages;
            this.wakeupEvents = wakeupEvents;
            this.onLost = onLost;
        }

        public static Options defaults() {
            return DEFAULTS;
        }

        /**
         * With so many pages of data for each CPU; 64 by default, which is 256 KiB with pages of 4 KiB.
         *
         * @throws IllegalArgumentException if it is not a power of two
         */
        public Options withPages(int perCpu) {
            if (Integer.bitCount(perCpu) != 1 || perCpu < 0) {
                throw new IllegalArgumentException(perCpu + " pages for each CPU: the number must be a power of two");
            }
            return new Options(perCpu, wakeupEvents, onLost);
        }

        /**
         * A CPU wakes the consumer for every so many records; 1 by default. Fewer records are read when the timeout of
         * a poll expires.
         */
        public Options withWakeupEvery(int records) {
            if (records < 1) {
                throw new IllegalArgumentException(
                        "wake-up every " + records + " records: the number must be positive");
            }
            return new Options(pages, records, onLost);
        }

        /** With a handler of lost records, which the thread that polls calls. */
        public Options withLostHandler(LostHandler handler) {
            return new Options(pages, wakeupEvents, handler);
        }
    }

    private PerfBuffer(List<PerfConsumer> cpus, Waiter waiter) {
        super("perf buffer", cpus, waiter, cpu -> "the perf buffer of CPU " + cpu);
        this.cpus = cpus.size();
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
        Waiter waiter = new Waiter(own.kernel(), "perf buffer " + map.name());
        try {
            List<PerfConsumer> cpus = new ArrayList<>();
            int[] numbers = CpuSet.online(own.host())
                    .numbers()
                    .filter(cpu -> Integer.compareUnsigned(cpu, map.maxEntries()) < 0)
                    .toArray();
            for (int cpu : numbers) {
                openCpu(own, cpu, options, waiter, cpus);
            }
            return new PerfBuffer(cpus, waiter);
        } catch (RuntimeException e) {
            throw waiter.owned().closeAfter(e);
        }
    }

    private static void openCpu(KernelMap map, int cpu, Options options, Waiter waiter, List<PerfConsumer> cpus) {
        Kernel kernel = map.kernel();
        String description = "ring of CPU " + cpu + " of perf buffer " + map.name();
        Fd event;
        try {
            event = waiter.owned().own(kernel.execute(PerfCommand.Open.output(description, cpu, options.wakeupEvents)));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENODEV) {
                return; // the CPU went offline in the meantime
            }
            throw e;
        }
        long page = map.host().pageSize();
        Mapping mapping = waiter.owned().own(map(kernel, event, page, page * options.pages));
        map.put(Struct.ints(cpu), event, UpdateMode.ANY);
        waiter.owned().push(() -> remove(map, cpu));
        waiter.watch(event, cpu, EpollEvent.READABLE);
        kernel.execute(new PerfCommand.Enable(event));
        MemorySegment memory = mapping.segment();
        cpus.add(new PerfConsumer(cpu, options.onLost, memory.asSlice(0, page), memory.asSlice(page)));
    }

    private static Mapping map(Kernel kernel, Fd event, long page, long data) {
        FileCommand.Map map = new FileCommand.Map(event, 0, page + data, true);
        try {
            return kernel.execute(map);
        } catch (SyscallException e) {
            if (e.errno() == Errno.EPERM) {
                throw FailureHints.withHint(
                        e,
                        "the ring needs more locked memory than sysctl kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK"
                                + " allow without CAP_IPC_LOCK; use fewer pages");
            }
            throw e;
        }
    }

    private static void remove(KernelMap map, int cpu) {
        try {
            map.delete(Struct.ints(cpu));
        } catch (IllegalStateException e) {
            // The map was closed first; the kernel then removes the entries that were added through it.
        }
    }

    /** The number of CPUs that have a ring. */
    public int cpus() {
        return cpus;
    }
}
