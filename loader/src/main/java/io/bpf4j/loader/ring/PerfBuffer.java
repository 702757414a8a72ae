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
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;

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
 * called between the records before and after the loss, once the ring has space again. With {@link
 * Options#withOverwriting} it loses the oldest instead.
 *
 * <p>{@link RecordReader} describes the rules for threads, handlers and closing.
 */
public final class PerfBuffer extends RecordReader {
    private final Kernel kernel;
    private final List<Fd> events;

    /** How often the rings were paused and resumed so far: an odd number while they are paused. */
    private final AtomicInteger pauses;

    /** Held while the rings are being paused or resumed. */
    private final Object pausing = new Object();

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
        private static final Options DEFAULTS = new Options(64, 1, false, Optional.empty(), (_, _) -> {}, false);

        private final int pages;
        private final int wakeup;
        private final boolean wakeupByBytes;
        private final Optional<SortedSet<Integer>> cpus;
        private final LostHandler onLost;
        private final boolean overwriting;

        private Options(
                int pages,
                int wakeup,
                boolean wakeupByBytes,
                Optional<SortedSet<Integer>> cpus,
                LostHandler onLost,
                boolean overwriting) {
            this.pages = pages;
            this.wakeup = wakeup;
            this.wakeupByBytes = wakeupByBytes;
            this.cpus = cpus;
            this.onLost = onLost;
            this.overwriting = overwriting;
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
            return new Options(perCpu, wakeup, wakeupByBytes, cpus, onLost, overwriting);
        }

        /**
         * A CPU wakes the consumer for every so many records; 1 by default. Fewer records are read when the timeout of
         * a poll expires. Replaces {@link #withWakeupAt}.
         */
        public Options withWakeupEvery(int records) {
            if (records < 1) {
                throw new IllegalArgumentException(
                        "wake-up every " + records + " records: the number must be positive");
            }
            return new Options(pages, records, false, cpus, onLost, overwriting);
        }

        /**
         * A CPU wakes the consumer once so many bytes of records have been written since the last wake-up, with the
         * headers of 12 bytes and the padding of records; less is read when the timeout of a poll expires. Must be less than
         * the bytes of a ring, see {@link #withPages}. Replaces {@link #withWakeupEvery}.
         */
        public Options withWakeupAt(int bytes) {
            if (bytes < 1) {
                throw new IllegalArgumentException("wake-up at " + bytes + " bytes: the number must be positive");
            }
            return new Options(pages, bytes, true, cpus, onLost, overwriting);
        }

        /**
         * Only the rings of these CPUs; by default of all that are online. A program that runs on another CPU gets
         * ENOENT from {@code bpf_perf_event_output}. So several buffers can share a map, each with CPUs of its own, for
         * instance one for each thread that reads.
         *
         * @throws IllegalArgumentException if there is none
         */
        public Options withCpus(int... numbers) {
            if (numbers.length == 0) {
                throw new IllegalArgumentException("a perf buffer needs at least one CPU");
            }
            SortedSet<Integer> chosen =
                    new TreeSet<>(Arrays.stream(numbers).boxed().toList());
            return new Options(pages, wakeup, wakeupByBytes, Optional.of(chosen), onLost, overwriting);
        }

        /** With a handler of lost records, which the thread that polls calls. */
        public Options withLostHandler(LostHandler handler) {
            return new Options(pages, wakeup, wakeupByBytes, cpus, handler, overwriting);
        }

        /**
         * With rings whose new records overwrite the oldest ones (Linux 4.7), to look at what led to an event and at
         * nothing before: a flight recorder. The rings are read only while they are paused:
         *
         * {@snippet :
         * perf.pause();
         * perf.consume(events, this::onEvent);
         * perf.resume();
         * }
         *
         * <p>Each record is passed once, those of a CPU from the oldest to the newest. Records that were overwritten are
         * not counted as lost; only records that programs try to write while the rings are paused are. Programs wake
         * nobody: {@link #withWakeupEvery} and {@link #withWakeupAt} have no effect. {@link #consume} and {@link #poll}
         * throw an IllegalStateException if the buffer is not paused, or is resumed before they have returned. A program
         * that is just writing on another CPU when the rings are paused may still overwrite the oldest record.
         */
        public Options withOverwriting() {
            return new Options(pages, wakeup, wakeupByBytes, cpus, onLost, true);
        }
    }

    private PerfBuffer(Kernel kernel, List<Fd> events, List<PerfConsumer> cpus, Waiter waiter, AtomicInteger pauses) {
        super("perf buffer", cpus, waiter, cpu -> "the perf buffer of CPU " + cpu);
        this.kernel = kernel;
        this.events = List.copyOf(events);
        this.pauses = pauses;
    }

    /** {@link #open(BpfMap, Options)} with the defaults. */
    public static PerfBuffer open(BpfMap map) {
        return open(map, Options.defaults());
    }

    /**
     * Creates a ring for each CPU and puts it into the map.
     *
     * @throws IllegalArgumentException if the map is not a perf event array, or has no place for a chosen CPU, or the CPU
     *     is not online, or a ring is too small for {@link Options#withWakeupAt}
     * @throws SyscallException if the kernel refuses; nothing stays open
     */
    public static PerfBuffer open(BpfMap map, Options options) {
        if (map.typeNumber() != MapType.PERF_EVENT_ARRAY.number()) {
            throw new IllegalArgumentException(map + " is not a perf event array");
        }
        KernelMap own = KernelMap.of(map);
        long ring = own.host().pageSize() * options.pages;
        if (options.wakeupByBytes && options.wakeup >= ring && !options.overwriting) {
            throw new IllegalArgumentException(
                    "wake-up at " + options.wakeup + " bytes, but a ring has " + ring + ": it would never wake");
        }
        Waiter waiter = new Waiter(own.kernel(), "perf buffer " + map.name());
        try {
            List<PerfConsumer> cpus = new ArrayList<>();
            List<Fd> events = new ArrayList<>();
            AtomicInteger pauses = new AtomicInteger();
            int[] numbers = CpuSet.online(own.host())
                    .numbers()
                    .filter(cpu -> Integer.compareUnsigned(cpu, map.maxEntries()) < 0)
                    .toArray();
            for (int cpu :
                    options.cpus.map(chosen -> chosen(map, chosen, numbers)).orElse(numbers)) {
                openCpu(own, cpu, options, waiter, cpus, events, pauses);
            }
            return new PerfBuffer(own.kernel(), events, cpus, waiter, pauses);
        } catch (RuntimeException | Error e) {
            waiter.owned().closeAfter(e);
            throw e;
        }
    }

    private static int[] chosen(BpfMap map, SortedSet<Integer> chosen, int[] possible) {
        for (int cpu : chosen) {
            if (Arrays.stream(possible).noneMatch(one -> one == cpu)) {
                throw new IllegalArgumentException("CPU " + cpu + " can have no ring in " + map
                        + ": it is not online, or" + " not below max_entries; these can: " + Arrays.toString(possible));
            }
        }
        return chosen.stream().mapToInt(Integer::intValue).toArray();
    }

    private static void openCpu(
            KernelMap map,
            int cpu,
            Options options,
            Waiter waiter,
            List<PerfConsumer> cpus,
            List<Fd> events,
            AtomicInteger pauses) {
        Kernel kernel = map.kernel();
        String description = "ring of CPU " + cpu + " of perf buffer " + map.name();
        PerfCommand.Open.Ring ring = options.overwriting
                ? new PerfCommand.Open.Ring(0, false, true)
                : new PerfCommand.Open.Ring(options.wakeup, options.wakeupByBytes, false);
        Fd event;
        try {
            event = waiter.owned().own(kernel.execute(PerfCommand.Open.output(description, cpu, ring)));
        } catch (SyscallException e) {
            if (e.errno() == Errno.ENODEV) {
                return; // the CPU went offline in the meantime
            }
            throw e;
        }
        long page = map.host().pageSize();
        Mapping mapping = waiter.owned().own(map(kernel, event, page + page * options.pages, options));
        map.put(Struct.ints(cpu), event, UpdateMode.ANY);
        waiter.owned().push(() -> remove(map, cpu));
        waiter.watch(event, cpu, EpollEvent.READABLE);
        kernel.execute(new PerfCommand.Enable(event));
        events.add(event);
        MemorySegment memory = mapping.segment();
        MemorySegment positions = memory.asSlice(0, page);
        MemorySegment data = memory.asSlice(page);
        cpus.add(
                options.overwriting
                        ? new BackwardPerfConsumer(cpu, options.onLost, positions, data, pauses::get)
                        : new PerfConsumer(cpu, options.onLost, positions, data));
    }

    /** The kernel overwrites old records if, and only if, the memory can't be written by the reader. */
    private static Mapping map(Kernel kernel, Fd event, long bytes, Options options) {
        FileCommand.Map map = new FileCommand.Map(event, 0, bytes, !options.overwriting);
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

    /**
     * Makes the rings take no records until {@link #resume}, for instance to read what led to an event without losing
     * it to what follows. Records that are in the rings can be read meanwhile. A program that writes gets ENOSPC, and
     * its record counts as lost. From any thread. A new buffer is not paused.
     *
     * @throws SyscallException if the kernel refuses, also ENOTTY before Linux 4.7
     * @throws IllegalStateException if the buffer is closed
     */
    public void pause() {
        synchronized (pausing) {
            boolean before = isPaused();
            int done = 0;
            try {
                for (Fd event : events) {
                    kernel.execute(new PerfCommand.Pause(event, true));
                    done++;
                }
            } catch (RuntimeException | Error e) {
                resume(before ? List.of() : events.subList(0, done), e);
                throw e;
            }
            if (!before) {
                pauses.incrementAndGet();
            }
        }
    }

    private boolean isPaused() {
        return pauses.get() % 2 != 0;
    }

    private void resume(List<Fd> some, Throwable why) {
        for (Fd event : some) {
            try {
                kernel.execute(new PerfCommand.Pause(event, false));
            } catch (RuntimeException | Error e) {
                why.addSuppressed(e);
            }
        }
    }

    /** Ends {@link #pause}. Without effect if the buffer is not paused. */
    public void resume() {
        synchronized (pausing) {
            if (isPaused()) {
                // First: a reader of rings that overwrite their records must not take what is written from now on.
                pauses.incrementAndGet();
            }
            events.forEach(event -> kernel.execute(new PerfCommand.Pause(event, false)));
        }
    }

    /** The number of CPUs that have a ring. */
    public int cpus() {
        return events.size();
    }
}
