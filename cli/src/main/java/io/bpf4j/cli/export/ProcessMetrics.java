package io.bpf4j.cli.export;

import io.bpf4j.sys.Host;
import io.bpf4j.sys.internal.proc.StatusFile;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The resources that the agent's process uses, with the names that all clients of Prometheus have for them ({@code
 * prometheus.io/docs/instrumenting/writing_clientlibs}), and the heap of its JVM with the names of the client for Java.
 * A metric that can't be read is left out. <i>Thread-safe.</i>
 *
 * <p>Tested by {@code QuestionMetricsTest}.
 */
final class ProcessMetrics {
    private static final MetricMetadata CPU =
            of("process_cpu_seconds", "Processor time in user space and in the kernel.");
    private static final MetricMetadata START = of("process_start_time_seconds", "When the process was started.");
    private static final MetricMetadata RESIDENT = of("process_resident_memory_bytes", "Resident memory.");
    private static final MetricMetadata VIRTUAL = of("process_virtual_memory_bytes", "Virtual memory.");
    private static final MetricMetadata OPEN = of("process_open_fds", "Open file descriptors.");
    private static final MetricMetadata LIMIT = of("process_max_fds", "Maximum number of open file descriptors.");
    private static final MetricMetadata HEAP = of("jvm_memory_used_bytes", "Used memory of the JVM.");
    private static final MetricMetadata MAX_HEAP = of("jvm_memory_max_bytes", "Maximum memory of the JVM.");

    /** Names that no question may have. */
    static final Set<String> NAMES = Set.of(
            CPU.getName(),
            START.getName(),
            RESIDENT.getName(),
            VIRTUAL.getName(),
            OPEN.getName(),
            LIMIT.getName(),
            HEAP.getName(),
            MAX_HEAP.getName());

    /** A line of /proc/PID/limits: the soft limit and the hard limit. */
    private static final Pattern MAX_FILES = Pattern.compile("Max open files\\s+(\\d+)\\s.*");

    private static final long KIB = 1024;

    private ProcessMetrics() {}

    private static MetricMetadata of(String name, String help) {
        return new MetricMetadata(name, help);
    }

    /** The current metrics. */
    static List<MetricSnapshot> read() {
        Path self = Host.running().self();
        List<MetricSnapshot> all = new ArrayList<>();
        ProcessHandle.Info info = ProcessHandle.current().info();
        info.totalCpuDuration()
                .ifPresent(time -> all.add(new CounterSnapshot(
                        CPU, List.of(new CounterDataPointSnapshot(time.toNanos() / 1e9, Labels.EMPTY, null, 0)))));
        info.startInstant().ifPresent(start -> all.add(gauge(START, start.toEpochMilli() / 1e3)));
        memory(self, "VmRSS").ifPresent(bytes -> all.add(gauge(RESIDENT, (double) bytes)));
        memory(self, "VmSize").ifPresent(bytes -> all.add(gauge(VIRTUAL, (double) bytes)));
        openFiles(self).ifPresent(number -> all.add(gauge(OPEN, (double) number)));
        mostFiles(self).ifPresent(number -> all.add(gauge(LIMIT, (double) number)));
        Runtime runtime = Runtime.getRuntime();
        Labels heap = Labels.of("area", "heap");
        all.add(gauge(HEAP, (double) (runtime.totalMemory() - runtime.freeMemory()), heap));
        all.add(gauge(MAX_HEAP, (double) runtime.maxMemory(), heap));
        return all;
    }

    private static MetricSnapshot gauge(MetricMetadata metric, double value) {
        return gauge(metric, value, Labels.EMPTY);
    }

    private static MetricSnapshot gauge(MetricMetadata metric, double value, Labels labels) {
        return new GaugeSnapshot(metric, List.of(new GaugeDataPointSnapshot(value, labels, null)));
    }

    private static OptionalLong memory(Path self, String field) {
        try {
            Optional<Integer> kib = StatusFile.read(self).number(field, 0);
            return kib.isPresent() ? OptionalLong.of(Integer.toUnsignedLong(kib.get()) * KIB) : OptionalLong.empty();
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    /** Without the descriptor by which the directory is read. */
    private static OptionalLong openFiles(Path self) {
        try (Stream<Path> open = Files.list(self.resolve("fd"))) {
            return OptionalLong.of(open.count() - 1);
        } catch (IOException | UncheckedIOException e) {
            return OptionalLong.empty();
        }
    }

    private static OptionalLong mostFiles(Path self) {
        try {
            return Files.readAllLines(self.resolve("limits")).stream()
                    .map(MAX_FILES::matcher)
                    .filter(Matcher::matches)
                    .mapToLong(line -> Long.parseLong(line.group(1)))
                    .findFirst();
        } catch (IOException | NumberFormatException e) {
            return OptionalLong.empty(); // "unlimited" does not match
        }
    }
}
