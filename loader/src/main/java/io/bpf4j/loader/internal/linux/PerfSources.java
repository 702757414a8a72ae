package io.bpf4j.loader.internal.linux;

import io.bpf4j.loader.error.BpfException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The dynamic sources of perf events, from /sys/bus/event_source/devices: each has a type number, assigned at boot, and
 * describes the bits of {@code perf_event_attr.config}. A file is read until it tells its number, which then is kept: a
 * program with a thousand probe sites needs it a thousand times. <i>Thread-safe.</i>
 *
 * <pre>
 * uprobe/type                    8
 * uprobe/format/retprobe         config:0
 * uprobe/format/ref_ctr_offset   config:32-63
 * </pre>
 */
public final class PerfSources {
    private static final String UPROBE = "uprobe";
    private static final String KPROBE = "kprobe";

    private final Path devices;
    private final Map<String, OptionalInt> found = new ConcurrentHashMap<>();

    /** @param devices the directory with a directory for each source */
    public PerfSources(Path devices) {
        this.devices = devices;
    }

    /** Type number of uprobes; empty on kernels without them, or before 4.17. */
    public OptionalInt uprobeType() {
        return type(UPROBE);
    }

    /** Type number of kprobes; empty on kernels without them, or before 4.17. */
    public OptionalInt kprobeType() {
        return type(KPROBE);
    }

    /** The bit of {@code config} that makes a uprobe fire on return. */
    public OptionalInt uprobeReturnBit() {
        return firstBit(UPROBE, "retprobe");
    }

    /** The bit of {@code config} that makes a kprobe fire on return. */
    public OptionalInt kprobeReturnBit() {
        return firstBit(KPROBE, "retprobe");
    }

    /** The lowest bit of {@code config} for the file offset of a reference counter; empty before 4.20. */
    public OptionalInt refCounterShift() {
        return firstBit(UPROBE, "ref_ctr_offset");
    }

    private OptionalInt type(String source) {
        return known(source + "/type");
    }

    /** The lowest bit in a file: 32 for {@code config:32-63}. */
    private OptionalInt firstBit(String source, String field) {
        return known(source + "/format/" + field);
    }

    private OptionalInt known(String file) {
        OptionalInt known = found.get(file);
        if (known == null) {
            known = number(devices.resolve(file));
            if (known.isPresent()) {
                found.put(file, known);
            }
        }
        return known;
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
            // Not that the kernel lacks a feature, but for example too many open files.
            throw new BpfException("can't read " + file + ": " + e.getMessage(), e);
        }
    }
}
