package io.bpf4j.loader.internal.load;

import io.bpf4j.loader.internal.sys.LoadResult;
import io.bpf4j.loader.internal.sys.ProgCommand.Log;
import io.bpf4j.loader.kernel.Errno;
import java.util.function.Function;

/**
 * Loads a program or BTF with a log, in a buffer that grows until all of the log fits.
 *
 * <p>How long a log gets nobody knows before. A kernel whose log does not fit says ENOSPC, whatever it thinks of the
 * program. What it leaves in the buffer differs:
 *
 * <pre>
 *   before 6.4   the beginning. The reason for a refusal is at the end, and lost
 *   since 6.4    the end (commit 1216640938035, "bpf: Switch BPF verifier log to be a rotating log by default"), and the
 *                size that all of it needs (commit 47a71c1f9af0): one more try is enough
 * </pre>
 *
 * <p>The buffer has a largest size, for the sake of this process's memory: {@value #LARGEST} bytes, less in a small heap;
 * and kernels before 5.2 take no more than {@value #LARGEST_BEFORE_5_2} (commit 7a9f5c65abcc). For a log that is longer
 * still, an older kernel is asked once more for figures only (level 4, Linux 5.2, commit 06ee7115b0d1): then it leaves the instructions out of
 * the log, and the reason not.
 *
 * <p><i>Immutable.</i>
 */
final class LoggedLoad {
    /** Instructions, and the way to the one that is refused. */
    static final int INSTRUCTIONS = 1;
    /** Instructions on every path, refused or not. */
    static final int EVERY_PATH = 2;
    /** Figures, and the reason for a refusal. */
    static final int FIGURES = 4;

    /** Starts the line between the beginning of a log and the reason; what was between them, nobody knows. */
    static final String CUT = "(the log is longer than ";

    private static final int FIRST = 256 << 10;
    private static final int LARGEST = 64 << 20;
    private static final int LARGEST_BEFORE_5_2 = (16 << 20) - 1;
    private static final int GROWTH = 8;
    /** The log of a second run may differ in the length of a number. */
    private static final int SLACK = 4 << 10;

    private final int largest;

    LoggedLoad() {
        // The bytes of a log are here twice for a moment, and once as text.
        this(Math.clamp(Runtime.getRuntime().maxMemory() / 8, FIRST, LARGEST));
    }

    LoggedLoad(int largest) {
        this.largest = largest;
    }

    /**
     * Loads.
     *
     * @param evenPart whether a part of the log is worth another try where it is known that all of it won't fit: each one
     *     is another verification, and the end is there after the first
     * @param attempt what to give to the kernel, for a buffer of that size
     * @return what came of it; {@link Errno#ENOSPC} with a part of the log, and a line that says so, if it was too long
     */
    LoadResult load(int level, boolean evenPart, Function<Log, LoadResult> attempt) {
        int size = Math.min(FIRST, largest);
        LoadResult result = attempt.apply(new Log(level, size));
        while (result instanceof LoadResult.Refused refused && isTooLong(refused)) {
            boolean hopeless = !evenPart && refused.logSize() > largest;
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
        if (needed == 0 && size < LARGEST_BEFORE_5_2) {
            next = Math.min(next, LARGEST_BEFORE_5_2);
        }
        return (int) Math.min(next, largest);
    }

    private static boolean isTooLong(LoadResult.Refused refused) {
        return refused.errno() == Errno.ENOSPC.number();
    }

    /** A kernel before 5.2 takes no buffer of that size; it gets no further than that, and so says nothing. */
    private static boolean isTooLarge(LoadResult result, int size) {
        return size > LARGEST_BEFORE_5_2
                && result instanceof LoadResult.Refused refused
                && refused.errno() == Errno.EINVAL.number()
                && refused.log().isEmpty();
    }

    private LoadResult part(LoadResult.Refused refused, int size, Function<Log, LoadResult> attempt) {
        String log = refused.log();
        if (refused.logSize() > 0) {
            int line = log.indexOf('\n') + 1;
            // Its size is told with a NUL at the end.
            int missing = refused.logSize() - 1 - log.length() + line;
            return tooLong(
                    "(the first " + missing + " bytes of the log did not fit)\n" + log.substring(line),
                    refused.logSize());
        }
        LoadResult end = attempt.apply(new Log(FIGURES, Math.min(FIRST, size)));
        return switch (end) {
            case LoadResult.Loaded loaded -> loaded;
            case LoadResult.Refused reason ->
                tooLong(
                        log.substring(0, log.lastIndexOf('\n') + 1) + CUT + size
                                + " bytes, and the rest of it did not fit)\n" + reason.log(),
                        0);
        };
    }

    private static LoadResult.Refused tooLong(String log, int logSize) {
        return new LoadResult.Refused(Errno.ENOSPC.number(), log, logSize);
    }
}
