package io.bpf4j.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;

/**
 * How busy the machine is with other work, from the first line of /proc/stat (proc_stat(5)): times of all CPUs since the
 * boot, in ticks. <i>Immutable.</i>
 *
 * <p>A comparison needs a quiet machine: two ways that are timed one after the other meet different neighbours.
 */
final class MachineLoad {
    /** More other work than that before a round, and what is measured is not compared. Per cent of all CPUs. */
    static final double MOST_BUSY = 10;

    /** More time than that taken by other guests of the host, and what is measured is not compared. Per cent. */
    static final double MOST_STOLEN = 2;

    private static final int IDLE = 3;
    private static final int IO_WAIT = 4;
    private static final int STOLEN = 7;

    private final long[] ticks;

    private MachineLoad(long[] ticks) {
        this.ticks = ticks;
    }

    static MachineLoad now() throws IOException {
        String line = Files.readAllLines(Path.of("/proc/stat")).getFirst();
        // "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL GUEST GUEST_NICE"; a user's time has the guest's in it.
        return new MachineLoad(Arrays.stream(line.trim().split(" +", -1))
                .skip(1)
                .limit(STOLEN + 1)
                .mapToLong(Long::parseLong)
                .toArray());
    }

    /** The part of the time since an earlier reading in which CPUs did work, in per cent. */
    double busySince(MachineLoad earlier) {
        return part(earlier, total(earlier) - since(earlier, IDLE) - since(earlier, IO_WAIT));
    }

    /** The part of the time since an earlier reading in which a CPU had work, and the host ran something else. */
    double stolenSince(MachineLoad earlier) {
        return part(earlier, since(earlier, STOLEN));
    }

    private double part(MachineLoad earlier, long some) {
        long total = total(earlier);
        return total == 0 ? 0 : 100.0 * some / total;
    }

    private long total(MachineLoad earlier) {
        return Arrays.stream(ticks).sum() - Arrays.stream(earlier.ticks).sum();
    }

    private long since(MachineLoad earlier, int which) {
        return ticks[which] - earlier.ticks[which];
    }

    /** Watches the machine for a second while this process does nothing. Returns how busy others keep it, in per cent. */
    static double ofOthers() throws IOException, InterruptedException {
        MachineLoad before = now();
        Thread.sleep(1000);
        return now().busySince(before);
    }

    static String percent(double value) {
        return String.format(Locale.ROOT, "%.1f %%", value);
    }
}
