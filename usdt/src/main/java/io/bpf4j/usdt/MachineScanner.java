package io.bpf4j.usdt;

import io.bpf4j.loader.host.Host;
import io.bpf4j.usdt.internal.process.AllProcesses;
import io.bpf4j.usdt.internal.process.MappedFile;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import io.bpf4j.usdt.internal.process.ProcessLimits;
import io.bpf4j.usdt.site.UsdtSite;
import java.io.IOException;
import java.util.Comparator;
import java.util.Optional;
import java.util.PriorityQueue;

/**
 * Scans the files of all processes. Keeps those with probes or problems; if they exceed the memory budget, drops the
 * probes of the largest, so that one file does not displace the others. <b>Confined.</b>
 */
final class MachineScanner implements AllProcesses.Scanner<MachineScanner.Kept> {
    private final ProcessFiles files;
    private final PriorityQueue<Kept> largestFirst = new PriorityQueue<>(
            Comparator.comparingLong((Kept kept) -> kept.bytes).reversed());
    private long bytes;

    private MachineScanner(ProcessFiles files) {
        this.files = files;
    }

    static AllProcesses.Found<Kept> scan(Host host) throws IOException {
        return new AllProcesses(host).look(new MachineScanner(new ProcessFiles(host)));
    }

    /** A scanned file, kept while the memory budget allows. */
    static final class Kept {
        private UsdtScan.File file;
        private final long bytes;

        private Kept(UsdtScan.File file) {
            this.file = file;
            this.bytes = bytes(file);
        }

        /** Empty if the file has neither a probe nor a problem. */
        Optional<UsdtScan.File> file() {
            return bytes == 0 ? Optional.empty() : Optional.of(file);
        }

        /** The approximate memory that it takes. */
        private static long bytes(UsdtScan.File file) {
            long bytes = 0;
            for (UsdtProbe probe : file.probes()) {
                for (UsdtSite site : probe.sites()) {
                    bytes +=
                            300 + site.arguments().length() + 100L * site.args().size();
                }
            }
            for (String problem : file.problems()) {
                bytes += 100 + 2L * problem.length();
            }
            return bytes;
        }
    }

    @Override
    public Kept scan(MappedFile file) throws IOException {
        return kept(FileScanner.scan(files, file));
    }

    @Override
    public Kept unopened(MappedFile file, IOException why) {
        return kept(FileScanner.unopened(file, why));
    }

    private Kept kept(UsdtScan.File file) {
        Kept kept = new Kept(file);
        largestFirst.add(kept);
        bytes += kept.bytes;
        while (bytes > ProcessLimits.MAX_SCANS_BYTES) {
            Kept largest = largestFirst.remove();
            bytes -= largest.bytes;
            largest.file = largest.file.withProblem(
                    "left out: the probes of all files together are more than fit, and this one has the most");
        }
        return kept;
    }
}
