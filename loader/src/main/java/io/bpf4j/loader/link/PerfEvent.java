package io.bpf4j.loader.link;

import java.util.Optional;
import java.util.OptionalInt;

/**
 * A hardware or software perf event: the program runs after every so many occurrences; {@code SEC("perf_event")}.
 * Without a thread and a CPU, one event for each online CPU is opened, in one link.
 */
public sealed interface PerfEvent extends AttachTarget {
    /**
     * Events of the processor, {@code PERF_COUNT_HW_*}. A processor, and more so a virtual machine, may lack some:
     * ENOENT.
     */
    enum Hardware {
        CPU_CYCLES(0),
        INSTRUCTIONS(1),
        CACHE_REFERENCES(2),
        CACHE_MISSES(3),
        BRANCH_INSTRUCTIONS(4),
        BRANCH_MISSES(5),
        BUS_CYCLES(6),
        STALLED_CYCLES_FRONTEND(7),
        STALLED_CYCLES_BACKEND(8),
        REF_CPU_CYCLES(9);

        private final int number;

        Hardware(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /**
     * Caches of the processor, {@code PERF_COUNT_HW_CACHE_*} of include/uapi/linux/perf_event.h. As for {@link Hardware},
     * a processor may lack some, or some of their uses.
     */
    enum Cache {
        L1_DATA(0),
        L1_INSTRUCTIONS(1),
        LAST_LEVEL(2),
        DATA_TLB(3),
        INSTRUCTION_TLB(4),
        BRANCH_PREDICTION(5),
        /** Memory of the same NUMA node; a miss is an access to another node. */
        NODE(6);

        private final int number;

        Cache(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /**
     * The accesses of a {@link Cache} that are counted: {@code PERF_COUNT_HW_CACHE_OP_*} in the low byte of the number,
     * {@code PERF_COUNT_HW_CACHE_RESULT_*} in the second.
     */
    enum CacheUse {
        READS(0),
        READ_MISSES(1 << 8),
        WRITES(1),
        WRITE_MISSES(1 << 8 | 1),
        PREFETCHES(2),
        PREFETCH_MISSES(1 << 8 | 2);

        private final int number;

        CacheUse(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /** Events of the kernel, {@code PERF_COUNT_SW_*}. The two clocks count nanoseconds. */
    enum Software {
        CPU_CLOCK(0),
        TASK_CLOCK(1),
        PAGE_FAULTS(2),
        CONTEXT_SWITCHES(3),
        CPU_MIGRATIONS(4),
        PAGE_FAULTS_MIN(5),
        PAGE_FAULTS_MAJ(6),
        ALIGNMENT_FAULTS(7),
        EMULATION_FAULTS(8);

        private final int number;

        Software(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /** Accesses to memory: {@code HW_BREAKPOINT_*} of include/uapi/linux/hw_breakpoint.h. */
    enum Access {
        /** Not on x86-64, which has no such breakpoints. */
        READ(1),
        WRITE(2),
        READ_WRITE(3),
        EXECUTE(4);

        private final int number;

        Access(int number) {
            this.number = number;
        }

        public int number() {
            return number;
        }
    }

    /**
     * Memory of a process.
     *
     * @param address a multiple of the length
     * @param length 1, 2, 4 or 8 bytes; 8 for execution
     */
    record Breakpoint(long address, int length, Access access) {}

    /**
     * Runs after every {@code period} occurrences.
     *
     * @param type {@code PERF_TYPE_*} of include/uapi/linux/perf_event.h: 0 hardware, 1 software, 3 cache, 4 raw; or
     *     the number in /sys/bus/event_source/devices/NAME/type
     * @param config the event to count, depending on the type: {@code PERF_COUNT_HW_*}, {@code PERF_COUNT_SW_*}
     */
    static PerfEvent every(long period, int type, long config) {
        return new PerfEventData(
                type, config, period, false, OptionalInt.empty(), OptionalInt.empty(), 0, Optional.empty(), false);
    }

    /** Runs after every {@code period} occurrences. */
    static PerfEvent every(long period, Hardware event) {
        return every(period, 0, event.number());
    }

    /** Runs after every {@code period} occurrences. */
    static PerfEvent every(long period, Software event) {
        return every(period, 1, event.number());
    }

    /** Runs after every {@code period} accesses to a cache. */
    static PerfEvent every(long period, Cache cache, CacheUse use) {
        return every(period, 3, cacheConfig(cache, use));
    }

    private static long cacheConfig(Cache cache, CacheUse use) {
        return cache.number() | (long) use.number() << 8;
    }

    /** Runs this many times per second, with the period that this requires; parameters as for {@link #every}. */
    static PerfEvent perSecond(long hertz, int type, long config) {
        return new PerfEventData(
                type, config, hertz, true, OptionalInt.empty(), OptionalInt.empty(), 0, Optional.empty(), false);
    }

    /** Runs this many times per second, with the period that this requires. */
    static PerfEvent perSecond(long hertz, Hardware event) {
        return perSecond(hertz, 0, event.number());
    }

    /** Runs this many times per second, with the period that this requires. */
    static PerfEvent perSecond(long hertz, Software event) {
        return perSecond(hertz, 1, event.number());
    }

    /** Runs this many times per second, with the period that this requires. */
    static PerfEvent perSecond(long hertz, Cache cache, CacheUse use) {
        return perSecond(hertz, 3, cacheConfig(cache, use));
    }

    /** All CPUs, this many times per second while they are busy, as for a profiler. */
    static PerfEvent cpuClock(long hertz) {
        return perSecond(hertz, Software.CPU_CLOCK);
    }

    /**
     * Runs at each access to memory, by a breakpoint of the processor, of which x86-64 has four. Usually with {@link
     * #inThread}: an address means different memory in each process.
     */
    static PerfEvent at(Breakpoint memory) {
        return new PerfEventData(
                5, 0, 1, false, OptionalInt.empty(), OptionalInt.empty(), 0, Optional.of(memory), false);
    }

    int type();

    long config();

    /** Occurrences for each run of the program, or runs per second. */
    long period();

    boolean isPerSecond();

    /** The thread to count in; empty for all. */
    OptionalInt tid();

    /** The CPU to count on; empty for all. */
    OptionalInt cpu();

    long cookie();

    /** The memory whose accesses are counted; empty for other types. */
    Optional<Breakpoint> breakpoint();

    /** Whether threads and processes that the thread starts later count, too. */
    boolean isInherited();

    /** In one thread only: the kernel's perf events count threads. */
    default PerfEvent inThread(int tid) {
        return new PerfEventData(
                type(),
                config(),
                period(),
                isPerSecond(),
                OptionalInt.of(tid),
                cpu(),
                cookie(),
                breakpoint(),
                isInherited());
    }

    default PerfEvent onCpu(int number) {
        return new PerfEventData(
                type(),
                config(),
                period(),
                isPerSecond(),
                tid(),
                OptionalInt.of(number),
                cookie(),
                breakpoint(),
                isInherited());
    }

    default PerfEvent withCookie(long cookie) {
        return new PerfEventData(
                type(), config(), period(), isPerSecond(), tid(), cpu(), cookie, breakpoint(), isInherited());
    }

    /** Also in threads and processes that the thread starts later, and in theirs. */
    default PerfEvent withInherited() {
        return new PerfEventData(type(), config(), period(), isPerSecond(), tid(), cpu(), cookie(), breakpoint(), true);
    }
}

record PerfEventData(
        int type,
        long config,
        long period,
        boolean isPerSecond,
        OptionalInt tid,
        OptionalInt cpu,
        long cookie,
        Optional<Breakpoint> breakpoint,
        boolean isInherited)
        implements PerfEvent {
    PerfEventData {
        if (period <= 0) {
            throw new IllegalArgumentException("period " + period + " is not positive");
        }
        if (cpu.isPresent() && cpu.getAsInt() < 0) {
            throw new IllegalArgumentException("CPU " + cpu.getAsInt() + " is negative");
        }
        TargetArguments.requireTid(tid);
    }

    @Override
    public String description() {
        return breakpoint
                        .map(memory -> memory.access() + " of " + memory.length() + " bytes at 0x"
                                + Long.toHexString(memory.address()))
                        .orElse("perf event " + type + ":" + config)
                + (cpu.isPresent() ? " on CPU " + cpu.getAsInt() : "");
    }
}
