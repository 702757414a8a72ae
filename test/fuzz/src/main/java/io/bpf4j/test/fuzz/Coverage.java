package io.bpf4j.test.fuzz;

import java.util.Arrays;

/**
 * Counts which blocks of instrumented code run, and how often: {@link InstrumentingLoader} puts a call of {@link #hit}
 * at the beginning of each block. A block begins at a method's first instruction, at each target of a jump, and after
 * each jump. <i>Confined</i> to the thread that runs a target.
 *
 * <p>The sum of all counts is the number of steps of a run: the same for the same input on each machine, whatever else
 * the machine does.
 */
public final class Coverage {
    /** More blocks than the modules have together. */
    private static final int MAX_BLOCKS = 1 << 17;

    private static final int[] COUNTS = new int[MAX_BLOCKS];
    private static final int[] TOUCHED = new int[MAX_BLOCKS];
    private static final byte[] SEEN = new byte[MAX_BLOCKS];

    private static int blocks;
    private static int touched;
    private static long steps;
    private static long limit = Long.MAX_VALUE;

    private Coverage() {}

    /** A run takes more steps than its input explains. It is an error, so that no parser takes it for one of its own. */
    public static final class TooManySteps extends Error {
        private static final long serialVersionUID = 1L;

        TooManySteps(long limit) {
            super("more than " + limit + " steps");
        }
    }

    /** The number of one more block. */
    static int newBlock() {
        if (blocks == MAX_BLOCKS) {
            throw new IllegalStateException("more than " + MAX_BLOCKS + " blocks");
        }
        return blocks++;
    }

    /** Called by instrumented code. */
    public static void hit(int block) {
        if (++steps > limit) {
            throw new TooManySteps(limit);
        }
        if (COUNTS[block]++ == 0) {
            TOUCHED[touched++] = block;
        }
    }

    /** Begins a run of at most so many steps. */
    static void begin(long mostSteps) {
        for (int i = 0; i < touched; i++) {
            COUNTS[TOUCHED[i]] = 0;
        }
        touched = 0;
        steps = 0;
        limit = mostSteps;
    }

    /** Ends a run; returns its steps. */
    static long end() {
        limit = Long.MAX_VALUE;
        return steps;
    }

    /**
     * Adds the last run to what has been seen. Counts differ if they are of different magnitude: 1, 2, 3, up to 7, 15, 31,
     * 127, and more.
     *
     * @return whether it reached a block for the first time, or for the first time so often
     */
    static boolean addRun() {
        boolean isNew = false;
        for (int i = 0; i < touched; i++) {
            int block = TOUCHED[i];
            byte magnitude = (byte) (1 << magnitude(COUNTS[block]));
            if ((SEEN[block] & magnitude) == 0) {
                SEEN[block] |= magnitude;
                isNew = true;
            }
        }
        return isNew;
    }

    private static int magnitude(int count) {
        if (count <= 3) {
            return count - 1;
        }
        return count < 8 ? 3 : count < 16 ? 4 : count < 32 ? 5 : count < 128 ? 6 : 7;
    }

    /** Whether any run has reached a block. */
    static boolean isReached(int block) {
        return SEEN[block] != 0;
    }

    /** How many blocks have been reached. */
    static int reached() {
        int reached = 0;
        for (byte seen : SEEN) {
            reached += seen == 0 ? 0 : 1;
        }
        return reached;
    }

    /** Forgets what has been seen, for another target. */
    static void forget() {
        Arrays.fill(SEEN, (byte) 0);
    }
}
