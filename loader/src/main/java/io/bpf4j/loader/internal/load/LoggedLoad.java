package io.bpf4j.loader.internal.load;

import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProgCommand.Log;
import io.bpf4j.sys.kernel.Errno;
import java.util.function.Function;

/**
 * Loads a program or BTF with a log, in a buffer that grows until all of the log fits.
 *
 * <p>The length of a log is not known in advance. If the log does not fit, the kernel returns ENOSPC, whether or not it
 * accepts the program. The part of the log in the buffer depends on the kernel:
 *
 * <pre>
 *   before 6.4   the beginning. The reason for a rejection is at the end, and lost
 *   since 6.4    the end (commit 1216640938035, "bpf: Switch BPF verifier log to be a rotating log by default"), and
 *                the size of the whole log (commit 47a71c1f9af0): one more try is enough
 * </pre>
 *
 * <p>The buffer's size is limited to protect this process's memory: {@value #MAX_BYTES} bytes, less in a small heap;
 * kernels before 5.2 accept at most {@value #MAX_BYTES_BEFORE_5_2} (commit 7a9f5c65abcc). If the log is longer, a
 * kernel before 6.4 runs once more with statistics only (level 4, Linux 5.2, commit 06ee7115b0d1): the log then omits
 * the instructions but keeps the reason.
 *
 * <p><i>Immutable.</i>
 */
final class LoggedLoad {
    /** Instructions, and the path to the rejected one. */
    static final int INSTRUCTIONS = 1;
    /** Instructions on every path, rejected or not. */
    static final int EVERY_PATH = 2;
    /** Statistics, and the reason for a rejection. */
    static final int STATISTICS = 4;

    /** Starts the line between the beginning of a log and the reason; the text between them is lost. */
    static final String TRUNCATED = "(the log is longer than ";

    private static final int FIRST_BYTES = 256 << 10;
    private static final int MAX_BYTES = 64 << 20;
    private static final int MAX_BYTES_BEFORE_5_2 = (16 << 20) - 1;
    private static final int GROWTH = 8;
    /** The log of a second run may differ in the length of a number. */
    private static final int SLACK = 4 << 10;

    private final int maxBytes;

    LoggedLoad() {
        // A log briefly exists twice as bytes, and once as text.
        this(Math.clamp(Runtime.getRuntime().maxMemory() / 8, FIRST_BYTES, MAX_BYTES));
    }

    LoggedLoad(int maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Loads.
     *
     * @param retryForPart whether to try again for a part of the log although the whole log won't fit: each try is
     *     another verification, and the first try already has the end
     * @param attempt the command for a buffer of that size
     * @return the result; {@link Errno#ENOSPC} with a part of the log, and a line that says so, if the log was too long
     */
    LoadResult load(int level, boolean retryForPart, Function<Log, LoadResult> attempt) {
        int size = Math.min(FIRST_BYTES, maxBytes);
        LoadResult result = attempt.apply(new Log(level, size));
        while (result instanceof LoadResult.Refused refused && isTooLong(refused)) {
            boolean hopeless = !retryForPart && refused.logSize() > maxBytes;
            int next = hopeless ? size : next(size, refused.logSize());
            LoadResult again = next > size ? attempt.apply(new Log(level, next)) : refused;
            if (next == size || isTooLarge(again, next)) {
                return part(refused, size, attempt);
            }
            size = next;
            result = again;
        }
        return result;
    }

    private int next(int size, int needed) {
        long next = needed > 0 ? Math.max(needed + (long) SLACK, size * 2L) : (long) size * GROWTH;
        if (needed == 0 && size < MAX_BYTES_BEFORE_5_2) {
            next = Math.min(next, MAX_BYTES_BEFORE_5_2);
        }
        return (int) Math.min(next, maxBytes);
    }

    static boolean isTooLong(LoadResult.Refused refused) {
        return refused.errno() == Errno.ENOSPC.number();
    }

    /** A kernel before 5.2 rejects a buffer of that size before it verifies anything, so the log is empty. */
    private static boolean isTooLarge(LoadResult result, int size) {
        return size > MAX_BYTES_BEFORE_5_2
                && result instanceof LoadResult.Refused refused
                && refused.errno() == Errno.EINVAL.number()
                && refused.log().isEmpty();
    }

    private LoadResult part(LoadResult.Refused refused, int size, Function<Log, LoadResult> attempt) {
        String log = refused.log();
        if (refused.logSize() > 0) {
            int line = log.indexOf('\n') + 1;
            // The kernel's size includes a NUL at the end.
            int missing = refused.logSize() - 1 - log.length() + line;
            return tooLong(
                    "(the first " + missing + " bytes of the log did not fit)\n" + log.substring(line),
                    refused.logSize());
        }
        LoadResult end = attempt.apply(new Log(STATISTICS, Math.min(FIRST_BYTES, size)));
        return switch (end) {
            case LoadResult.Loaded loaded -> loaded;
            case LoadResult.Refused reason ->
                tooLong(
                        log.substring(0, log.lastIndexOf('\n') + 1) + TRUNCATED + size
                                + " bytes, and the rest of it did not fit)\n" + reason.log(),
                        0);
        };
    }

    private static LoadResult.Refused tooLong(String log, int logSize) {
        return new LoadResult.Refused(Errno.ENOSPC.number(), log, logSize);
    }
}
