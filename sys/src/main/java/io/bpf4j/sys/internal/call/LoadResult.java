package io.bpf4j.sys.internal.call;

import io.bpf4j.elf.internal.text.CString;
import java.lang.foreign.MemorySegment;

/**
 * The result of loading a program or BTF. A rejection is a result and not an exception, because the loader reads the
 * log, tries again with another log level, or probes the kernel's features. <i>Immutable.</i>
 */
public sealed interface LoadResult {
    /** The verifier log; empty unless it was requested. */
    String log();

    /** The result of a system call that wrote a log; {@code description} describes the new file descriptor. */
    static LoadResult of(Call call, long result, String description, MemorySegment log, int logSize) {
        String text = CString.of(log);
        return result >= 0 ? new Loaded(call.fd(result, description), text) : new Refused((int) -result, text, logSize);
    }

    /**
     * The kernel accepted it.
     *
     * @param fd owned by the caller of the command
     */
    record Loaded(Fd fd, String log) implements LoadResult {}

    /**
     * The kernel rejected it.
     *
     * @param errno the error number; ENOSPC if the log did not fit, whatever the verdict
     * @param logSize bytes that the whole log needs, from kernel 6.4 on (commit 47a71c1f9af0, "bpf: Add log_true_size
     *     output field to return necessary log buffer size"); 0 where unknown
     */
    record Refused(int errno, String log, int logSize) implements LoadResult {}
}
