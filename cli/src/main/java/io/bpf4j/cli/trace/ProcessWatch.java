package io.bpf4j.cli.trace;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Notices when a process maps another file as code: a library that it loads, or the program that it becomes by exec.
 *
 * <p>Reading {@code /proc/PID/maps} is cheap beside reading every mapped file again, so this is asked often and the
 * files only when it says so. The first moments of a process, when its libraries are loaded, are watched more closely.
 * <i>Confined.</i>
 */
public final class ProcessWatch {
    private static final long CLOSE_NANOS = 3_000_000_000L;
    private static final int CLOSE_MILLIS = 5;
    private static final int RELAXED_MILLIS = 100;

    /** The inode number of anonymous memory and of {@code [vdso]}. */
    private static final String NO_FILE = "0";

    private final Path maps;
    private final long start = System.nanoTime();
    private Set<String> seen = Set.of();

    public ProcessWatch(int pid) {
        this(Path.of("/proc/" + pid + "/maps"));
    }

    ProcessWatch(Path maps) {
        this.maps = maps;
    }

    /** How long to wait before asking again. */
    public int intervalMillis() {
        return System.nanoTime() - start < CLOSE_NANOS ? CLOSE_MILLIS : RELAXED_MILLIS;
    }

    /** Whether code was mapped since the last call that was not there at that call. False once the process is gone. */
    public boolean changed() {
        Set<String> now = new HashSet<>();
        try (Stream<String> lines = Files.lines(maps, StandardCharsets.ISO_8859_1)) {
            lines.forEach(line -> {
                // 7f0000000000-7f0000001000 r-xp 00002000 fe:01 1234   /lib/x.so
                String[] fields = line.split(" +", 6);
                if (fields.length == 6 && fields[1].indexOf('x') >= 0 && !fields[4].equals(NO_FILE)) {
                    now.add(fields[3] + " " + fields[4] + " " + fields[5]);
                }
            });
        } catch (IOException | UncheckedIOException e) {
            return false;
        }
        boolean changed = !seen.containsAll(now);
        seen = now;
        return changed;
    }
}
