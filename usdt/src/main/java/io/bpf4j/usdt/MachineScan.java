package io.bpf4j.usdt;

import io.bpf4j.usdt.internal.process.AllProcesses;
import io.bpf4j.usdt.internal.process.MappedFile;
import io.bpf4j.usdt.internal.process.ProcessFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What a look into all processes of the machine found. <b>Immutable</b>.
 *
 * @param files those that some process has mapped executable and that have probes, or a problem
 * @param unreadable how many processes this one may not look into
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
     * Reads the notes of all files that any process has mapped executable. Each file is read once, however many
     * processes have it; a process that ends meanwhile is left out.
     *
     * @throws IOException if the list of processes can't be read
     */
    public static MachineScan now() throws IOException {
        Path proc = Path.of("/proc");
        AllProcesses.Found<Optional<UsdtScan>> found = new AllProcesses(proc).look(new Scanner(new ProcessFiles(proc)));
        List<InProcesses> files = found.files().stream()
                .flatMap(shared -> shared.file().map(scan -> new InProcesses(scan, shared.pids())).stream())
                .toList();
        return new MachineScan(files, found.unreadable(), found.problems());
    }

    /** Keeps what has something to say. */
    private record Scanner(ProcessFiles files) implements AllProcesses.Scanner<Optional<UsdtScan>> {
        @Override
        public Optional<UsdtScan> scan(MappedFile file) throws IOException {
            try (ProcessFiles.Opened opened = files.open(file)) {
                UsdtScan scan = UsdtScan.ofOpened(opened, file.name());
                return scan.probes().isEmpty() && scan.problems().isEmpty() ? Optional.empty() : Optional.of(scan);
            }
        }

        @Override
        public Optional<UsdtScan> unopened(MappedFile file, IOException why) {
            return Optional.of(UsdtScan.unopened(file, why));
        }
    }

    /** The scans alone. */
    public List<UsdtScan> scans() {
        return files.stream().map(InProcesses::scan).toList();
    }
}
