package io.bpf4j.benchmarks;

import com.sun.management.OperatingSystemMXBean;
import io.bpf4j.loader.BpfLoader;
import io.bpf4j.loader.BpfObject;
import io.bpf4j.loader.ring.PerfBuffer;
import io.bpf4j.loader.ring.RecordHandler;
import io.bpf4j.loader.ring.RecordReader;
import io.bpf4j.loader.ring.RingBuffer;
import io.bpf4j.loader.spec.ObjectSpec;
import io.bpf4j.test.objects.TestObjects;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/**
 * How fast records of 64 bytes come from a program to a handler, how many are lost if the program fires as fast as it
 * can, and how long each takes from the program to the handler at 50,000 a second; through a ring buffer and a perf
 * buffer, with a wake-up for each record and with one for 64 of them, and through a ring buffer whose program forces a
 * wake-up when 4, 64 or 256 KiB wait. And how much of a CPU the reader takes while no record comes.
 *
 * <p>Not by JMH, because these are no times of a method. A process of its own fires (fire.c), and records.c beside it
 * measures libbpf in the same way, with the same object, counts and sizes of buffers. A ring buffer wakes its reader for
 * a record if the reader has read all others, a perf buffer for every record.
 *
 * <p>Takes the number of shots, makes a third of them, and prints lines for {@link Yardstick}.
 */
final class RecordsMain {
    private static final int RATE_COUNT = 500_000;

    /** Each wake-up through a perf buffer takes several microseconds. */
    private static final int RATE_COUNT_PERF = 50_000;

    private static final int LATENCY_COUNT = 25_600;
    private static final int LATENCY_INTERVAL_NS = 20_000;
    private static final int BATCH = 64;
    private static final int[] WAKE_AT = {4 << 10, 64 << 10, 256 << 10};
    private static final long IDLE_NS = 1_000_000_000;
    private static final int PAGES = 256;
    private static final Duration WAIT = Duration.ofMillis(10);

    /**
     * Until the JVM has compiled what reads: with two CPUs, one of which fires, its compilers take the other from the
     * reader for milliseconds.
     */
    private static final int WARM_UP = 12;

    /** Of {@code struct counts}: records fired, and of these lost; each of 8 bytes. */
    private static final int LOST = 8;

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private static final double[] PERCENTS = {50, 99, 99.9};

    private final String name;
    private final int rateCount;
    private final BpfObject object;
    private final RecordReader reader;
    private final int program;

    private long count;
    private long first;
    private long last;
    private long latest;
    private final long[] latencies = new long[LATENCY_COUNT];

    /** @param wakeAt bytes that wait when the program forces a wake-up; 0: it does not look */
    private RecordsMain(boolean ring, int batch, int wakeAt) {
        name = (ring ? "ring" : "perf")
                + (batch == 1 ? "" : " batched")
                + (wakeAt == 0 ? "" : " at " + wakeAt / 1024 + " KiB");
        rateCount = !ring && batch == 1 ? RATE_COUNT_PERF : RATE_COUNT;
        object = BpfLoader.of(ObjectSpec.parse("records.bpf.o", TestObjects.bytes("records.bpf.o")))
                .global("batch", batch)
                .global("wake_at", wakeAt)
                .load();
        reader = ring
                ? RingBuffer.open(object.map("ring"))
                : PerfBuffer.open(
                        object.map("events"),
                        PerfBuffer.Options.defaults().withPages(PAGES).withWakeupEvery(batch));
        program = object.program(ring ? "to_ring" : "to_perf").id();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        int shots = Math.ceilDiv(Integer.parseInt(arguments[0]), 3);
        for (boolean ring : List.of(true, false)) {
            for (int batch : List.of(1, BATCH)) {
                measure(new RecordsMain(ring, batch, 0), shots);
            }
        }
        for (int wakeAt : WAKE_AT) {
            measure(new RecordsMain(true, 1, wakeAt), shots);
        }
    }

    private static void measure(RecordsMain measured, int shots) throws IOException, InterruptedException {
        try (measured.object;
                measured.reader) {
            measured.measure(shots);
        }
    }

    private void measure(int shots) throws IOException, InterruptedException {
        double[] rates = new double[shots];
        double[] losses = new double[shots];
        double[] idle = new double[shots];
        double[][] percentiles = new double[PERCENTS.length][shots];
        for (int shot = shots == 1 ? 0 : -WARM_UP; shot < shots; shot++) {
            long lost = readFired(rateCount, 0, this::count);
            if (count + lost != rateCount) {
                throw new IllegalStateException(
                        name + ": " + count + " records read and " + lost + " lost of " + rateCount);
            }
            if (latest < first) {
                throw new IllegalStateException(name + ": the records were not read in their order");
            }
            if (shot >= 0) {
                rates[shot] = (double) (last - first) / count;
                losses[shot] = 100.0 * lost / rateCount;
            }
            schedule("--fifo", 1);
            lost = readFired(LATENCY_COUNT, LATENCY_INTERVAL_NS, this::time);
            schedule("--other", 0);
            if (lost != 0) {
                throw new IllegalStateException(name + ": " + lost + " records lost at a slow pace");
            }
            if (shot >= 0) {
                idle[shot] = idle();
            }
            Arrays.sort(latencies);
            for (int i = 0; i < PERCENTS.length && shot >= 0; i++) {
                percentiles[i][shot] = latencies[(int) (PERCENTS[i] / 100 * (LATENCY_COUNT - 1))] / 1e3;
            }
        }
        Yardstick.print("recordAtFullRate", name, "ns", rates);
        Yardstick.print("lostAtFullRate", name, "%", losses);
        Yardstick.print("idleCpu", name, "%", idle);
        for (int i = 0; i < PERCENTS.length; i++) {
            String percent = Double.toString(PERCENTS[i]).replace(".0", "");
            Yardstick.print("recordLatency", name + " p" + percent, "us", percentiles[i]);
        }
    }

    /** A reader of real-time priority waits for records, and not for other work of the machine. Not all may have it. */
    private static void schedule(String policy, int priority) throws IOException, InterruptedException {
        long process = ProcessHandle.current().pid();
        Process chrt = new ProcessBuilder(
                        "chrt", "--all-tasks", policy, "--pid", Integer.toString(priority), Long.toString(process))
                .inheritIO()
                .start();
        if (chrt.waitFor() != 0) {
            System.err.println("latencies include other work of the machine: no real-time priority for the reader");
        }
    }

    /** Polls while no record comes. Returns the time of CPUs that this process took, in percent of the time. */
    private double idle() {
        long cpu = PROCESS.getProcessCpuTime();
        long start = System.nanoTime();
        while (System.nanoTime() - start < IDLE_NS) {
            reader.poll(WAIT, this::time);
        }
        return 100.0 * (PROCESS.getProcessCpuTime() - cpu) / (System.nanoTime() - start);
    }

    /** Reads until all that was fired is read or lost. Returns how many were lost. */
    private long readFired(int records, int intervalNs, RecordHandler handler)
            throws IOException, InterruptedException {
        long lost = lost();
        count = 0;
        Process fire = new ProcessBuilder(
                        Targets.fire().toString(),
                        Integer.toString(program),
                        Integer.toString(records),
                        Integer.toString(intervalNs))
                .inheritIO()
                .start();
        int taken;
        do {
            taken = reader.poll(WAIT, handler);
            if (taken > 0) {
                last = System.nanoTime();
            }
        } while (taken > 0 || fire.isAlive());
        reader.consume(handler); // what was less than a batch woke nobody
        if (fire.waitFor() != 0) {
            throw new IllegalStateException("fire ended with " + fire.exitValue());
        }
        return lost() - lost;
    }

    /** Reads a field, and looks at no clock: that would take several times as long as reading the record. */
    private void count(int ring, MemorySegment data, long offset, int size) {
        long fired = fired(data, offset);
        if (count++ == 0) {
            first = fired;
        }
        latest = fired;
    }

    private void time(int ring, MemorySegment data, long offset, int size) {
        // On Linux System.nanoTime() is CLOCK_MONOTONIC, as the program's.
        latencies[(int) (count++ % LATENCY_COUNT)] = System.nanoTime() - fired(data, offset);
    }

    private static long fired(MemorySegment data, long offset) {
        return data.get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    private long lost() {
        return MemorySegment.ofArray(object.global("counts").bytes()).get(ValueLayout.JAVA_LONG_UNALIGNED, LOST);
    }
}
