package io.bpf4j.usdt;

import io.bpf4j.process.MappedFile;
import io.bpf4j.process.MappedRange;
import io.bpf4j.process.ProcessFiles;
import io.bpf4j.sys.Host;
import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The files that a process has mapped as code, for one attachment: read when they are first needed, and once, because a
 * process decides how many mappings it has, and an attachment how many files. So the addresses of all its files, and
 * what it says of files that are not mapped, are of one reading. <i>Confined.</i>
 *
 * <p>Tested by {@code MappedCodeTest}.
 */
final class MappedCode {
    private final Host host;
    private final int pid;
    private @Nullable List<MappedRange> ranges;
    private @Nullable IOException failure;

    MappedCode(Host host, int pid) {
        this.host = host;
        this.pid = pid;
    }

    int pid() {
        return pid;
    }

    /**
     * The mappings, in the order of their addresses.
     *
     * @throws IOException if they can't be read; the message says why
     */
    List<MappedRange> ranges() throws IOException {
        if (failure != null) {
            throw failure;
        }
        if (ranges == null) {
            try {
                ranges = new ProcessFiles(host).mappings(pid, mapping -> mapping.executable() && mapping.isFile());
            } catch (IOException e) {
                failure = e;
                throw e;
            }
        }
        return ranges;
    }

    /** The mapped files, each once, by the first of its mappings. */
    Collection<MappedFile> files() throws IOException {
        Map<MappedFile.Key, MappedFile> files = new LinkedHashMap<>();
        for (MappedRange range : ranges()) {
            MappedFile file = new MappedFile(pid, range);
            files.putIfAbsent(file.key(), file);
        }
        return files.values();
    }
}
