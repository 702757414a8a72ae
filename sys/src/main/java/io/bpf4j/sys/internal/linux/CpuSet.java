package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

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

    /**
     * All possible CPUs of a machine, read once.
     *
     * @throws BpfException if sysfs does not list them
     */
    public static CpuSet possible(Host host) {
        return host.known(CpuSet.class, machine -> read(list(machine, "possible")));
    }

    /**
     * The CPUs of a machine that are online now.
     *
     * @throws BpfException if sysfs does not list them
     */
    public static CpuSet online(Host host) {
        return read(list(host, "online"));
    }

    private static Path list(Host host, String name) {
        return host.sys().resolve("devices/system/cpu").resolve(name);
    }

    /**
     * Reads a file with such a list. There is no substitute for it: a read of a per-CPU map writes a value for each
     * possible CPU to the memory of the caller, and a JVM may report fewer processors.
     *
     * @throws BpfException if there is no such file, or it has no CPUs
     */
    public static CpuSet read(Path file) {
        try {
            CpuSet set = parse(Files.readString(file));
            if (set.count() > 0) {
                return set;
            }
            throw unknown(file, "the list is empty", null);
        } catch (NoSuchFileException e) {
            throw unknown(file, "no such file", e);
        } catch (IOException | IllegalArgumentException e) {
            throw unknown(file, String.valueOf(e.getMessage()), e);
        }
    }

    private static BpfException unknown(Path file, String reason, @Nullable Exception cause) {
        return new BpfException(
                "the CPUs of this machine are unknown: " + file + ": " + reason
                        + "; mount sysfs on /sys, or set its path with Host.withSys",
                cause);
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

    /** The number of CPUs. For the possible CPUs it is the number of values of an element in a per-CPU map. */
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
