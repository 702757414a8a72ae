package io.bpf4j.sys.internal.linux;

import io.bpf4j.sys.BpfException;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The dynamic sources of perf events, from /sys/bus/event_source/devices: each has a type number, assigned at boot, and
 * describes the bits of {@code perf_event_attr.config}. A number is cached after the first successful read, because a
 * program with a thousand probe sites needs it a thousand times. <i>Thread-safe.</i>
 *
 * <pre>
 * uprobe/type                    8
 * uprobe/format/retprobe         config:0
 * uprobe/format/ref_ctr_offset   config:32-63
 * </pre>
 */
public final class PerfSources {
    /** Probes of programs and libraries (Linux 4.17). */
    public static final String UPROBE = "uprobe";

    /** Probes of kernel functions (Linux 4.17). */
    public static final String KPROBE = "kprobe";

    private final Path devices;
    private final Map<String, OptionalInt> cache = new ConcurrentHashMap<>();

    /** The sources of a machine's kernel. */
    public static PerfSources of(Host host) {
        return host.known(
                PerfSources.class, machine -> new PerfSources(machine.sys().resolve("bus/event_source/devices")));
    }

    /** @param devices the directory with a directory for each source */
    public PerfSources(Path devices) {
        this.devices = devices;
    }

    /** The type number of a source; empty on kernels without it. */
    public OptionalInt type(String source) {
        return cachedNumber(source + "/type");
    }

    /**
     * The lowest bit of a field of {@code config}: 32 for {@code config:32-63}; empty on kernels without it.
     *
     * @param field {@code retprobe}, which makes a probe fire on return, or {@code ref_ctr_offset}, the file offset of a
     *     uprobe's reference counter (Linux 4.20)
     */
    public OptionalInt firstBit(String source, String field) {
        return cachedNumber(source + "/format/" + field);
    }

    private OptionalInt cachedNumber(String file) {
        OptionalInt cached = cache.get(file);
        if (cached == null) {
            cached = number(devices.resolve(file));
            if (cached.isPresent()) {
                cache.put(file, cached);
            }
        }
        return cached;
    }

    /** The number after the colon, if there is one, and before the dash. */
    private static OptionalInt number(Path file) {
        try {
            String text = Files.readString(file).strip();
            String number = text.substring(text.indexOf(':') + 1);
            int dash = number.indexOf('-');
            return OptionalInt.of(Integer.parseInt(dash < 0 ? number : number.substring(0, dash)));
        } catch (NoSuchFileException | NumberFormatException e) {
            return OptionalInt.empty();
        } catch (IOException e) {
            // The kernel may have the feature: the reason is, for example, too many open files.
            throw new BpfException("can't read " + file + ": " + e.getMessage(), e);
        }
    }
}
