package io.bpf4j.loader.internal.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.bpf4j.sys.internal.call.Fd;
import io.bpf4j.sys.internal.call.LoadResult;
import io.bpf4j.sys.internal.call.ProgCommand.Log;
import io.bpf4j.sys.internal.call.ScriptedKernel;
import io.bpf4j.sys.kernel.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** How a log gets a buffer that it fits into, on kernels that keep its beginning and those that keep its end. */
class LoggedLoadTest {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final String REASON = "R2 !read_ok\n";

    private final List<Log> tries = new ArrayList<>();

    /** A log of lines of 16 bytes that ends in the reason. */
    private static String log(int size) {
        return "0: (b7) r0 = 42\n".repeat((size - REASON.length()) / 16) + REASON;
    }

    /** Since Linux 6.4. */
    private Function<Log, LoadResult> rolling(String log) {
        return attempt -> {
            tries.add(attempt);
            int room = attempt.size() - 1;
            return log.length() <= room
                    ? new LoadResult.Refused(Errno.EACCES.number(), log, log.length() + 1)
                    : new LoadResult.Refused(
                            Errno.ENOSPC.number(), log.substring(log.length() - room), log.length() + 1);
        };
    }

    /** Linux 5.2 to 6.3; of level 4 come only the reason and the figures. */
    private Function<Log, LoadResult> fixed(String log) {
        return attempt -> {
            tries.add(attempt);
            int room = attempt.size() - 1;
            String all = attempt.level() == LoggedLoad.STATISTICS ? REASON + "processed 1 insns\n" : log;
            return all.length() <= room
                    ? new LoadResult.Refused(Errno.EACCES.number(), all, 0)
                    : new LoadResult.Refused(Errno.ENOSPC.number(), all.substring(0, room), 0);
        };
    }

    /** Before Linux 5.2: no large buffers, no level 4. */
    private Function<Log, LoadResult> old(String log) {
        return attempt -> {
            if (attempt.size() >= 16 * MIB || attempt.level() > 3) {
                tries.add(attempt);
                return new LoadResult.Refused(Errno.EINVAL.number(), "", 0);
            }
            return fixed(log).apply(attempt);
        };
    }

    private static LoadResult.Refused refused(Function<Log, LoadResult> kernel) {
        return refused(64 * MIB, kernel);
    }

    private static LoadResult.Refused refused(int largest, Function<Log, LoadResult> kernel) {
        return (LoadResult.Refused) new LoggedLoad(largest).load(LoggedLoad.INSTRUCTIONS, true, kernel);
    }

    private List<Integer> sizes() {
        return tries.stream().map(Log::size).toList();
    }

    @Test
    void aShortLogTakesOneTry() {
        assertThat(refused(rolling(log(1000))).log()).isEqualTo(log(1000));
        assertThat(refused(fixed(log(1000))).log()).isEqualTo(log(1000));
        assertThat(sizes()).containsExactly(256 * KIB, 256 * KIB);
    }

    @Test
    void aKernelThatSaysHowLongItIsIsAskedOnceMore() {
        String log = log(5 * MIB);
        LoadResult.Refused refused = refused(rolling(log));
        assertThat(refused.log()).isEqualTo(log);
        assertThat(refused.errno()).isEqualTo(Errno.EACCES.number());
        assertThat(sizes()).hasSize(2);
        assertThat(sizes().getLast()).isBetween(log.length() + 1, log.length() + 64 * KIB);
    }

    @Test
    void anOlderKernelIsAskedWithLargerAndLargerBuffers() {
        String log = log(20 * MIB);
        assertThat(refused(fixed(log)).log()).isEqualTo(log);
        assertThat(sizes()).containsExactly(256 * KIB, 2 * MIB, 16 * MIB - 1, 64 * MIB);
    }

    @Test
    void ofALogThatIsTooLongTheEndIsKeptWhereTheKernelKeepsIt() {
        String log = log(6 * MIB);
        LoadResult.Refused refused = refused(4 * MIB, rolling(log));
        assertThat(refused.errno()).isEqualTo(Errno.ENOSPC.number());
        assertThat(refused.log()).endsWith(REASON).hasSizeBetween(4 * MIB - 100, 4 * MIB + 100);
        String[] lines = refused.log().split("\n", 3);
        int kept = lines[1].length() + 1 + lines[2].length();
        assertThat(lines[0]).isEqualTo("(the first " + (log.length() - kept) + " bytes of the log did not fit)");
        assertThat(lines[1]).isEqualTo("0: (b7) r0 = 42");
        assertThat(sizes()).containsExactly(256 * KIB, 4 * MIB);
    }

    @Test
    void whatWontFitAnywayIsNotTriedAgainUnlessItWasAskedFor() {
        LoadResult result = new LoggedLoad(4 * MIB).load(LoggedLoad.INSTRUCTIONS, false, rolling(log(6 * MIB)));
        assertThat(result.log()).startsWith("(the first ").endsWith(REASON);
        assertThat(sizes()).containsExactly(256 * KIB);
        assertThat(new LoggedLoad(4 * MIB)
                        .load(LoggedLoad.INSTRUCTIONS, false, rolling(log(3 * MIB)))
                        .log())
                .isEqualTo(log(3 * MIB));
    }

    @Test
    void whereTheKernelKeepsTheBeginningItIsAskedForTheReason() {
        LoadResult.Refused refused = refused(4 * MIB, fixed(log(6 * MIB)));
        assertThat(refused.errno()).isEqualTo(Errno.ENOSPC.number());
        assertThat(refused.log()).startsWith("0: (b7) r0 = 42\n").endsWith("""
                        0: (b7) r0 = 42
                        (the log is longer than 4194304 bytes, and the rest of it did not fit)
                        R2 !read_ok
                        processed 1 insns
                        """);
        assertThat(tries.getLast().level()).isEqualTo(4);
    }

    @Test
    void aVeryOldKernelGivesAsMuchAsItCan() {
        LoadResult.Refused refused = refused(old(log(17 * MIB)));
        assertThat(refused.log())
                .startsWith("0: (b7) r0 = 42\n")
                .endsWith("(the log is longer than 16777215 bytes, and the rest of it did not fit)\n");
        assertThat(sizes()).containsExactly(256 * KIB, 2 * MIB, 16 * MIB - 1, 64 * MIB, 256 * KIB);
    }

    @Test
    void aRefusalOfTheLargestBufferThatHasALogIsARefusalOfTheProgram() {
        String log = log(20 * MIB);
        LoadResult.Refused refused = refused(attempt -> {
            LoadResult result = fixed(log).apply(attempt);
            boolean fits = ((LoadResult.Refused) result).errno() != Errno.ENOSPC.number();
            return fits ? new LoadResult.Refused(Errno.EINVAL.number(), result.log(), 0) : result;
        });
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL.number());
        assertThat(refused.log()).isEqualTo(log);
    }

    @Test
    void aLogWithoutALineBreakIsKeptToo() {
        LoadResult.Refused refused = (LoadResult.Refused)
                new LoggedLoad(1000).load(LoggedLoad.INSTRUCTIONS, true, rolling("x".repeat(2000)));
        assertThat(refused.log()).isEqualTo("(the first 1001 bytes of the log did not fit)\n" + "x".repeat(999));
    }

    @Test
    void whatIsTakenInTheEndIsTaken() {
        try (Fd fd = new ScriptedKernel().newFd("program")) {
            LoadResult result = new LoggedLoad(64 * MIB).load(LoggedLoad.EVERY_PATH, true, attempt -> {
                tries.add(attempt);
                return attempt.size() < 10 * MIB
                        ? new LoadResult.Refused(Errno.ENOSPC.number(), "end\n", 10 * MIB)
                        : new LoadResult.Loaded(fd, "all");
            });
            assertThat(result).isEqualTo(new LoadResult.Loaded(fd, "all"));
            assertThat(tries)
                    .hasSize(2)
                    .allSatisfy(log -> assertThat(log.level()).isEqualTo(2));
        }
    }

    /** A kernel that lies about how much it needs, or whose log grows with each try. */
    @Test
    void itEndsWhateverTheKernelSays() {
        for (int needed : new int[] {1, 256 * KIB, Integer.MAX_VALUE}) {
            tries.clear();
            LoadResult.Refused refused = refused(attempt -> {
                tries.add(attempt);
                return new LoadResult.Refused(Errno.ENOSPC.number(), "a\nb\n", needed);
            });
            assertThat(refused.errno()).isEqualTo(Errno.ENOSPC.number());
            assertThat(tries.size()).isLessThan(12);
        }
    }
}
