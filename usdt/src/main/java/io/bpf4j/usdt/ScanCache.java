package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.process.MappedFile;
import io.bpf4j.process.ProcessFiles;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Scans of files that several processes have mapped, each read once. <i>Confined.</i>
 *
 * <p>Only scans of files with a path of their own are kept: a path through {@code /proc/PID} is valid only while the
 * process exists.
 *
 * <p>Tested by {@code CliFollowTest}.
 */
final class ScanCache {
    private static final int MAX_FILES = 4096;

    private final ProcessFiles files;
    private final Map<FileIdentity, UsdtScan.File> known = new LinkedHashMap<>();

    ScanCache(ProcessFiles files) {
        this.files = files;
    }

    /**
     * The probes of a file that a process has mapped.
     *
     * @throws IOException if it can't be read. The next search tries again
     */
    UsdtScan.File scan(MappedFile file) throws IOException {
        List<Integer> pids = List.of(file.pid());
        try (ProcessFiles.Opened opened = files.open(file)) {
            if (opened.path().startsWith(files.proc())) {
                return FileScanner.scan(opened, file.name()).withPids(pids);
            }
            FileIdentity identity = opened.file().identity();
            UsdtScan.File scanned = known.get(identity);
            if (scanned == null || !scanned.path().equals(opened.path())) {
                scanned = FileScanner.scan(opened, file.name());
                if (known.size() >= MAX_FILES) {
                    known.remove(known.keySet().iterator().next());
                }
                known.put(identity, scanned);
            }
            return scanned.withPids(pids);
        }
    }
}
