package io.bpf4j.trace.stack;

import io.bpf4j.elf.FileIdentity;
import io.bpf4j.elf.internal.text.FileName;
import io.bpf4j.process.MappedRange;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The code of a process, and which of its files were opened. <i>Confined.</i>
 *
 * <p>Tested by {@code SymbolizerTest}.
 */
final class KnownProcess {
    private static final int MAX_FILES = 1 << 16;

    private final ProcessCode code;
    private final Map<FileKey, FileIdentity> opened = new HashMap<>();
    private final Set<FileKey> unreadable = new HashSet<>();

    /** A file as the mappings of a process name it. A file may have thousands of mappings. */
    record FileKey(long device, long inode, FileName text) {
        static FileKey of(MappedRange mapping) {
            return new FileKey(mapping.device(), mapping.inode(), mapping.text());
        }
    }

    KnownProcess(ProcessCode code) {
        this.code = code;
    }

    ProcessCode code() {
        return code;
    }

    /** The identity of a mapped file; empty if it was not opened. */
    Optional<FileIdentity> opened(MappedRange mapping) {
        return Optional.ofNullable(opened.get(FileKey.of(mapping)));
    }

    void opened(MappedRange mapping, FileIdentity file) {
        if (opened.size() > MAX_FILES) {
            opened.clear();
        }
        opened.put(FileKey.of(mapping), file);
    }

    /** Whether it was tried to open a mapped file, without success. */
    boolean isUnreadable(MappedRange mapping) {
        return unreadable.contains(FileKey.of(mapping));
    }

    void unreadable(MappedRange mapping) {
        if (unreadable.size() > MAX_FILES) {
            unreadable.clear();
        }
        unreadable.add(FileKey.of(mapping));
    }
}
