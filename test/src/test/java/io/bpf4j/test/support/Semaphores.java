package io.bpf4j.test.support;

import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The counters of a process that tell it that somebody listens, read from its memory: for programs that don't show
 * them.
 */
public final class Semaphores {
    private record Writable(long start, long end, long fileOffset) {
        static Writable of(String line) {
            String[] fields = line.split("\\s+", 6);
            String[] range = fields[0].split("-", 2);
            return new Writable(
                    Long.parseUnsignedLong(range[0], 16),
                    Long.parseUnsignedLong(range[1], 16),
                    Long.parseUnsignedLong(fields[2], 16));
        }
    }

    private Semaphores() {}

    /** The values by name of probe; of probes that have semaphores. */
    public static Map<String, Integer> of(long pid, List<UsdtProbe> probes) throws IOException {
        Map<String, Integer> values = new TreeMap<>();
        try (RandomAccessFile memory = new RandomAccessFile("/proc/" + pid + "/mem", "r")) {
            for (UsdtProbe probe : probes) {
                List<Writable> mappings = writable(pid, probe.path());
                for (UsdtSite site : probe.sites()) {
                    if (site.hasSemaphore()) {
                        values.put(probe.fullName(), read(memory, mappings, site.semaphoreOffset()));
                    }
                }
            }
        }
        return values;
    }

    private static int read(RandomAccessFile memory, List<Writable> mappings, long offset) throws IOException {
        Writable mapping = mappings.stream()
                .filter(m -> offset >= m.fileOffset() && offset - m.fileOffset() < m.end() - m.start())
                .findFirst()
                .orElseThrow(() -> new AssertionError("file offset " + offset + " is not mapped writable"));
        memory.seek(mapping.start() + offset - mapping.fileOffset());
        short counter = memory.readShort();
        return Short.toUnsignedInt(
                ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Short.reverseBytes(counter) : counter);
    }

    private static List<Writable> writable(long pid, Path file) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/" + pid + "/maps"))) {
            return lines.filter(line -> line.endsWith(file.toString()) && line.contains(" rw"))
                    .map(Writable::of)
                    .toList();
        }
    }
}
