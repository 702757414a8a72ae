package io.bpf4j.usdt;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.usdt.internal.process.MappedFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Scans of files that several processes have mapped, each read once. <b>Confined.</b>
 *
 * <p>Only those that have a path of their own are kept: one that leads through {@code /proc/PID} is good as long as that
 * process is there.
 */
final class ScanCache {
    private static final int MAX_FILES = 4096;

    private final Map<FileIdentity, UsdtScan> known = new LinkedHashMap<>();

    UsdtScan scan(MappedFile file) {
        Path path = file.path();
        if (path == null || path.startsWith("/proc")) {
            return UsdtScan.ofMappedFile(file);
        }
        try {
            FileIdentity identity = FileIdentity.of(path);
            UsdtScan scan = known.get(identity);
            if (scan == null || !scan.path().equals(path)) {
                scan = UsdtScan.ofMappedFile(file);
                if (known.size() >= MAX_FILES) {
                    known.remove(known.keySet().iterator().next());
                }
                known.put(identity, scan);
            }
            return scan;
        } catch (IOException e) {
            return UsdtScan.ofMappedFile(file); // which says what is wrong
        }
    }
}
