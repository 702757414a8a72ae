package io.bpf4j.trace;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.Tasks;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.UsdtProbe;
import io.bpf4j.usdt.UsdtScan;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The files that processes map after they were attached to, and that have one of the attached probes: nothing is
 * attached to them, because only a {@link Target} is followed. A file that is unmapped between two checks is not seen.
 * <i>Thread-safe</i>; checks are made by one thread at a time.
 *
 * <p>Tested by {@code ChangesOnKernelTest}.
 */
final class MappedLater {
    /** The maximum number of files that are named: a process can map any number. */
    private static final int MAX_NAMED = 10;

    private final Tasks tasks;
    private final ProcessFiles files;
    private final Map<Integer, Watched> processes = new LinkedHashMap<>();
    private final Map<String, Diagnostic> found = new LinkedHashMap<>();

    /** A process. */
    private static final class Watched {
        /** Distinguishes the process from a later one with the same pid. */
        final OptionalLong start;

        /** The files that it had mapped when it was attached to. */
        final Set<MappedFile.Key> first;

        /** The files of the last check; only checks use it. */
        Set<MappedFile.Key> last = Set.of();

        /** The files that are attached to. They may be mapped again. */
        final Set<FileIdentity> attached = new HashSet<>();

        /** The full names of the probes that are attached to. */
        final Set<String> probes = new HashSet<>();

        Watched(OptionalLong start, Set<MappedFile.Key> first) {
            this.start = start;
            this.first = first;
        }

        boolean isNew(MappedFile file) {
            return !first.contains(file.key()) && !last.contains(file.key());
        }
    }

    MappedLater(Host host) {
        this.tasks = new Tasks(host);
        this.files = new ProcessFiles(host);
    }

    /** Notes that probes of a process were attached to. */
    void attached(int pid, List<UsdtProbe> probes) {
        OptionalLong start = tasks.start(pid);
        Set<MappedFile.Key> mapped;
        try {
            mapped = keys(files.executableFiles(pid));
        } catch (IOException e) {
            return; // without permission to read the mappings, later checks can't read them either
        }
        synchronized (this) {
            Watched process = processes.get(pid);
            if (process == null || !process.start.equals(start)) {
                process = new Watched(start, mapped);
                processes.put(pid, process);
            }
            for (UsdtProbe probe : probes) {
                process.probes.add(probe.fullName());
                process.attached.add(probe.binary().identity());
            }
        }
    }

    private static Set<MappedFile.Key> keys(List<MappedFile> files) {
        return files.stream().map(MappedFile::key).collect(Collectors.toUnmodifiableSet());
    }

    /** Finds the files that the processes have mapped since the last check. */
    void look() {
        Map<Integer, Watched> all;
        synchronized (this) {
            all = new LinkedHashMap<>(processes);
        }
        all.forEach((pid, process) -> {
            try {
                look(pid, process);
            } catch (IOException e) {
                // The process has ended, or may no longer be read. Only a hint is missing, not an event.
            }
        });
    }

    private void look(int pid, Watched process) throws IOException {
        if (process.start.isEmpty() || !process.start.equals(tasks.start(pid))) {
            synchronized (this) {
                processes.remove(pid, process);
            }
            return;
        }
        List<MappedFile> now = files.executableFiles(pid);
        Set<String> names =
                now.stream().filter(process::isNew).map(MappedFile::name).collect(Collectors.toUnmodifiableSet());
        if (!names.isEmpty()) {
            for (UsdtScan.File file : UsdtScan.ofProcess(pid).files()) {
                if (names.contains(file.name())) {
                    look(pid, process, file);
                }
            }
        }
        process.last = keys(now);
    }

    private synchronized void look(int pid, Watched process, UsdtScan.File file) {
        Set<String> same = new TreeSet<>();
        for (UsdtProbe probe : file.probes()) {
            if (process.probes.contains(probe.fullName())
                    && !process.attached.contains(probe.binary().identity())) {
                same.add(probe.fullName());
            }
        }
        if (!same.isEmpty() && found.size() < MAX_NAMED) {
            found.putIfAbsent(
                    pid + " " + file.name(),
                    new Diagnostic(
                            Kind.LEFT_OUT,
                            file.name(),
                            "process " + pid + " has mapped " + file.name() + " after it was attached to, and the file"
                                    + " has " + same.iterator().next() + ", too"));
        }
    }

    /** What is left out. */
    synchronized List<Diagnostic> hints() {
        return new ArrayList<>(found.values());
    }
}
