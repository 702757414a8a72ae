package io.bpf4j.loader.internal.sys;

/**
 * What came of loading a program or BTF. A refusal is an answer here and not an exception, since the loader looks at the
 * log, tries again with another, or asks what the kernel lacks. <i>Immutable.</i>
 */
public sealed interface LoadResult {
    /** The verifier's log; empty unless one was asked for. */
    String log();

    /**
     * In the kernel.
     *
     * @param fd belongs to whoever gave the command
     */
    record Loaded(Fd fd, String log) implements LoadResult {}

    /**
     * Refused.
     *
     * @param errno the error number; ENOSPC where the log did not fit, whatever else there was to say
     * @param logSize bytes that the whole log needs, from kernel 6.4 on (commit 47a71c1f9af0, "bpf: Add log_true_size
     *     output field to return necessary log buffer size"); 0 where unknown
     */
    record Refused(int errno, String log, int logSize) implements LoadResult {}
}
