package io.bpf4j.loader;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The cost of verifying a program, from the end of the verifier log:
 *
 * <pre>
 * verification time 71704 usec
 * stack depth 320+8
 * processed 76387 insns (limit 1000000) max_states_per_insn 4 total_states 8021 peak_states 50 mark_read 0
 * </pre>
 *
 * <i>Immutable.</i>
 *
 * @param instructions that the verifier processed, on all paths together
 * @param limit of processed instructions; a program that needs more is refused
 * @param maxStatesPerInstruction the most states stored for one instruction
 * @param totalStates all states that were stored
 * @param peakStates the most states stored at one time
 * @param time of the verification; only in a log of level 4
 * @param stackDepths bytes of stack of each function, the program's entry first; only in a log of level 4
 */
public record VerifierStatistics(
        long instructions,
        long limit,
        long maxStatesPerInstruction,
        long totalStates,
        long peakStates,
        Optional<Duration> time,
        List<Integer> stackDepths) {
    /** The statistics are in the last characters of the log, so a long log need not be searched. */
    private static final int TAIL_CHARACTERS = 4_000;

    private static final Pattern PROCESSED = Pattern.compile(
            "^processed (\\d{1,18}) insns \\(limit (\\d{1,18})\\) max_states_per_insn (\\d{1,18})"
                    + " total_states (\\d{1,18}) peak_states (\\d{1,18})",
            Pattern.MULTILINE);
    private static final Pattern TIME = Pattern.compile("^verification time (\\d{1,12}) usec$", Pattern.MULTILINE);
    private static final Pattern STACK = Pattern.compile("^stack depth (\\d{1,9}(?:\\+\\d{1,9})*)", Pattern.MULTILINE);

    public VerifierStatistics {
        stackDepths = List.copyOf(stackDepths);
    }

    /**
     * The statistics in a log, such as the log of a {@code VerifierException}; empty if the log has none (before Linux
     * 5.2).
     */
    public static Optional<VerifierStatistics> of(String log) {
        String end = log.substring(Math.max(0, log.length() - TAIL_CHARACTERS));
        Matcher figures = PROCESSED.matcher(end);
        if (!figures.find()) {
            return Optional.empty();
        }
        Matcher time = TIME.matcher(end);
        Matcher stack = STACK.matcher(end);
        return Optional.of(new VerifierStatistics(
                Long.parseLong(figures.group(1)),
                Long.parseLong(figures.group(2)),
                Long.parseLong(figures.group(3)),
                Long.parseLong(figures.group(4)),
                Long.parseLong(figures.group(5)),
                time.find()
                        ? Optional.of(Duration.of(Long.parseLong(time.group(1)), ChronoUnit.MICROS))
                        : Optional.empty(),
                stack.find()
                        ? Arrays.stream(stack.group(1).split("\\+"))
                                .map(Integer::valueOf)
                                .toList()
                        : List.of()));
    }
}
