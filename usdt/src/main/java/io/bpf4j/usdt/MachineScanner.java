package io.bpf4j.usdt;

import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.process.ProcessLimits;
import io.bpf4j.process.TooMuchException;
import io.bpf4j.sys.Diagnostic;
import io.bpf4j.sys.Diagnostic.Kind;
import io.bpf4j.sys.Host;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.TreeSet;

/**
 * Scans the files that the processes of a machine have mapped executable, each once, even if several processes have
 * mapped it. Keeps those with probes or problems; if they exceed the memory budget, drops the probes of the largest, so
 * that one file does not displace the others. <i>Confined.</i>
 *
 * <p>Processes start and end during the scan: a process that has ended has no files.
 *
 * <p>Tested by {@code UsdtProcessesTest} and {@code HostileNotesTest}.
 */
final class MachineScanner {
    private final Host host;
    private final ProcessFiles files;
    private final Map<MappedFile.Key, Found> found = new LinkedHashMap<>();
    private final List<Diagnostic> leftOut = new ArrayList<>();
    private final PriorityQueue<Found> largestFirst = new PriorityQueue<>(
            Comparator.comparingLong((Found one) -> one.bytes).reversed());
    private long bytes;

    /** A file and the processes that have mapped it, in ascending order. */
    private static final class Found {
        private final List<Integer> pids;
        private final boolean opened;
        private final long bytes;
        private UsdtScan.File file;

        private Found(UsdtScan.File file, boolean opened, List<Integer> pids) {
            this.file = file;
            this.opened = opened;
            this.pids = pids;
            this.bytes = bytes(file);
        }
    }

    MachineScanner(Host host) {
        this.host = host;
        this.files = new ProcessFiles(host);
    }

    /**
     * The files that have probes or problems.
     *
     * @throws IOException if the list of processes can't be read
     */
    List<UsdtScan.File> scan() throws IOException {
        List<Integer> unreadable = new ArrayList<>();
        for (int pid : pids()) {
            try {
                files.executableFiles(pid).forEach(this::add);
            } catch (TooMuchException e) {
                leftOut.add(new Diagnostic(Kind.LEFT_OUT, "process " + pid, String.valueOf(e.getMessage())));
            } catch (IOException e) {
                if (Files.exists(host.process(pid))) {
                    unreadable.add(pid);
                }
            }
        }
        if (!unreadable.isEmpty()) {
            boolean one = unreadable.size() == 1;
            int first = unreadable.getFirst();
            leftOut.addFirst(new Diagnostic(
                    Kind.LEFT_OUT,
                    one ? "process " + first : "",
                    (one ? "a process is" : unreadable.size() + " processes are")
                            + " left out: no permission to read the mappings of process " + first
                            + (one ? "" : " and the others")));
        }
        return found.values().stream()
                .filter(one -> one.bytes > 0)
                .map(one -> one.file.withPids(one.pids))
                .toList();
    }

    /** One for the processes that this process may not read, and one for each that would cost too much. */
    List<Diagnostic> leftOut() {
        return leftOut;
    }

    private Set<Integer> pids() throws IOException {
        Set<Integer> pids = new TreeSet<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(host.proc(), "[0-9]*")) {
            for (Path process : processes) {
                pids.add(Integer.parseInt(String.valueOf(process.getFileName())));
            }
        }
        return pids;
    }

    /** A file that can't be opened through one process is tried through the next. */
    private void add(MappedFile file) {
        Found known = found.get(file.key());
        if (known == null || !known.opened) {
            List<Integer> pids = known == null ? new ArrayList<>() : known.pids;
            try {
                known = new Found(FileScanner.scan(files, file), true, pids);
            } catch (IOException e) {
                known = new Found(FileScanner.unread(file, e), false, pids);
            }
            found.put(file.key(), known);
            keep(known);
        }
        known.pids.add(file.pid());
    }

    private void keep(Found one) {
        largestFirst.add(one);
        bytes += one.bytes;
        while (bytes > ProcessLimits.MAX_SCANS_BYTES) {
            Found largest = largestFirst.remove();
            bytes -= largest.bytes;
            String name = largest.file.name();
            largest.file = largest.file.withProblem(new Diagnostic(
                    Kind.LEFT_OUT,
                    name,
                    name + ": left out: the probes of all files exceed the memory limit, and those of this file take"
                            + " the most"));
        }
    }

    /** The approximate memory that a scan takes; 0 if it has neither a probe nor a problem. */
    private static long bytes(UsdtScan.File file) {
        long bytes = 0;
        for (UsdtProbe probe : file.probes()) {
            for (UsdtSite site : probe.sites()) {
                bytes += 300 + site.arguments().length() + 100L * site.args().size();
            }
        }
        for (Diagnostic problem : file.problems()) {
            bytes += 150 + 2L * (problem.subject().length() + problem.message().length());
        }
        return bytes;
    }
}
