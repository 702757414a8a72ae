package io.bpf4j.trace.stack;

/**
 * Decides whether something is read again for an address that was not found in it. <i>Confined.</i>
 *
 * <p>Maps and symbols grow while a process runs, so an address that is missing is a reason to read them again. But a
 * program without frame pointers has stacks full of numbers that are no addresses, and to read for each of them would
 * cost more than all else. So after each time in vain twice as many misses are let pass, 1,024 at most.
 */
final class Rereads {
    private static final int MOST_DOUBLINGS = 10;

    private int inVain;
    private int toSkip;

    /** Whether to read again for this miss. */
    boolean worthwhile() {
        if (toSkip > 0) {
            toSkip--;
            return false;
        }
        return true;
    }

    /** Whether the address was found after reading again. */
    void tried(boolean found) {
        inVain = found ? 0 : Math.min(inVain + 1, MOST_DOUBLINGS);
        toSkip = found ? 0 : (1 << inVain) - 1;
    }
}
