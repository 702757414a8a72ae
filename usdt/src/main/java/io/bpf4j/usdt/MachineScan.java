package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.process.AllProcesses;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * What a look into all processes of the machine found. <b>Immutable</b>.
 *
 * @param files those that some process has mapped executable and that have probes, or a problem
 * @param unreadable how many processes this one may not look into
 */
public record MachineScan(List<InProcesses> files, int unreadable) {
    public MachineScan {
        files = List.copyOf(files);
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
     * Reads the notes of all files that any process has mapped executable. Each file is read once, however many
     * processes have it; a process that ends meanwhile is left out.
     *
     * @throws IOException if the list of processes can't be read
     */
    public static MachineScan now() throws IOException {
        AllProcesses.Found found = new AllProcesses(Path.of("/proc")).look();
        List<InProcesses> files = found.files().stream()
                .map(shared -> new InProcesses(UsdtScan.ofMappedFile(shared.file()), shared.pids()))
                .filter(file -> !file.scan().probes().isEmpty()
                        || !file.scan().problems().isEmpty())
                .toList();
        return new MachineScan(files, found.unreadable());
    }

    /** The scans alone. */
    public List<UsdtScan> scans() {
        return files.stream().map(InProcesses::scan).toList();
    }
}
