package io.bpf4j.loader.internal.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.stream.IntStream;

/**
 * CPUs by number, as the kernel writes them in /sys/devices/system/cpu: {@code 0-3,8,10-11}. <i>Immutable.</i>
 *
 * <p>Possible CPUs are all CPUs that may come online; per-CPU maps have one value for each of them, whether it is
 * present or not. Online CPUs currently run code.
 *
 * <p>Tested by {@code LinuxFilesTest}.
 */
public final class CpuSet {
    /** Far above NR_CPUS of any kernel (8192); prevents a malformed list from using all memory. */
    private static final int MAX_CPUS = 1 << 16;

    private final BitSet cpus;

    private CpuSet(BitSet cpus) {
        this.cpus = cpus;
    }

    /** Reads a file with such a list. */
    public static CpuSet read(Path file) {
        try {
            return parse(Files.readString(file));
        } catch (IOException e) {
            // No sysfs, as in a bare chroot: use the number of processors of the JVM.
            BitSet all = new BitSet();
            all.set(0, Runtime.getRuntime().availableProcessors());
            return new CpuSet(all);
        }
    }

    /**
     * Reads a list such as {@code 0-3,8}.
     *
     * @throws IllegalArgumentException if it is malformed
     */
    public static CpuSet parse(String list) {
        BitSet cpus = new BitSet();
        String text = list.strip();
        if (!text.isEmpty()) {
            for (String range : text.split(",", -1)) {
                int dash = range.indexOf('-');
                int first = number(list, dash < 0 ? range : range.substring(0, dash));
                int last = dash < 0 ? first : number(list, range.substring(dash + 1));
                if (last < first) {
                    throw malformed(list);
                }
                cpus.set(first, last + 1);
            }
        }
        return new CpuSet(cpus);
    }

    private static int number(String list, String digits) {
        try {
            int number = Integer.parseInt(digits);
            if (number >= 0 && number < MAX_CPUS) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw malformed(list);
        }
        throw malformed(list);
    }

    private static IllegalArgumentException malformed(String list) {
        return new IllegalArgumentException("not a list of CPUs: \"" + list.strip() + "\"");
    }

    /** How many they are: for the possible ones, the number of values of an element in a per-CPU map. */
    public int count() {
        return cpus.cardinality();
    }

    public IntStream numbers() {
        return cpus.stream();
    }

    @Override
    public String toString() {
        return cpus.toString();
    }
}
