package io.bpf4j.usdt;

import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.internal.process.AllProcesses;
import io.bpf4j.usdt.internal.process.MappedFile;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessLimits;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * The result of scanning all processes of the machine. <b>Immutable</b>.
 *
 * @param files files that at least one process has mapped executable and that have probes, or a problem
 * @param unreadable the number of processes that this process may not read
 * @param problems a line for each process that was left out because it would cost too much
 */
public record MachineScan(List<InProcesses> files, int unreadable, List<String> problems) {
    public MachineScan {
        files = List.copyOf(files);
        problems = List.copyOf(problems);
    }

    /**
     * A file and the processes that run it.
     *
     * @param pids in ascending order, at least one
     */
    public record InProcesses(UsdtScan scan, List<Integer> pids) {
        public InProcesses {
            pids = List.copyOf(pids);
        }
    }

    /**
     * Reads the notes of all files that any process has mapped executable. Each file is read once, even if many
     * processes have mapped it; a process that ends meanwhile is left out.
     *
     * @throws IOException if the list of processes can't be read
     */
    public static MachineScan of(Host host) throws IOException {
        AllProcesses.Found<Kept> found = new AllProcesses(host).look(new Scanner(new ProcessFiles(host)));
        List<InProcesses> files = found.files().stream()
                .flatMap(shared -> shared.file().scan.map(scan -> new InProcesses(scan, shared.pids())).stream())
                .toList();
        return new MachineScan(files, found.unreadable(), found.problems());
    }

    /** A scan, kept while the memory budget allows. */
    private static final class Kept {
        Optional<UsdtScan> scan;
        final long bytes;

        Kept(UsdtScan scan) {
            this.scan = scan.probes().isEmpty() && scan.problems().isEmpty() ? Optional.empty() : Optional.of(scan);
            this.bytes = bytes(scan);
        }

        /** The approximate memory that it takes. */
        private static long bytes(UsdtScan scan) {
            long bytes = 0;
            for (UsdtProbe probe : scan.probes()) {
                for (UsdtSite site : probe.sites()) {
                    bytes +=
                            300 + site.arguments().length() + 100L * site.args().size();
                }
            }
            for (String problem : scan.problems()) {
                bytes += 100 + 2L * problem.length();
            }
            return bytes;
        }

        void leaveOut() {
            scan = scan.map(s -> new UsdtScan(
                    s.path(),
                    s.name(),
                    List.of(),
                    List.of("left out: the probes of all files together are more than fit, and this one has"
                            + " the most")));
        }
    }

    /**
     * Keeps scans with probes or problems; if they exceed the budget, drops the largest, so that one file does not
     * displace the others.
     */
    private static final class Scanner implements AllProcesses.Scanner<Kept> {
        private final ProcessFiles files;
        private final PriorityQueue<Kept> largestFirst = new PriorityQueue<>(
                Comparator.comparingLong((Kept kept) -> kept.bytes).reversed());
        private long bytes;

        Scanner(ProcessFiles files) {
            this.files = files;
        }

        @Override
        public Kept scan(MappedFile file) throws IOException {
            try (ProcessFiles.Opened opened = files.open(file)) {
                return kept(UsdtScan.ofOpened(opened, file.name()));
            }
        }

        @Override
        public Kept unopened(MappedFile file, IOException why) {
            return kept(UsdtScan.unopened(file, why));
        }

        private Kept kept(UsdtScan scan) {
            Kept kept = new Kept(scan);
            largestFirst.add(kept);
            bytes += kept.bytes;
            while (bytes > ProcessLimits.MAX_SCANS_BYTES) {
                Kept largest = largestFirst.remove();
                bytes -= largest.bytes;
                largest.leaveOut();
            }
            return kept;
        }
    }

    /** The scans alone. */
    public List<UsdtScan> scans() {
        return files.stream().map(InProcesses::scan).toList();
    }
}
