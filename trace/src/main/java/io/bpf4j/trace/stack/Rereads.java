package io.bpf4j.trace.stack;

/**
 * Decides whether mappings or symbols are read again because an address was not found in them. <i>Confined.</i>
 *
 * <p>Mappings and symbols grow while a process runs, so a missing address is a reason to read them again. But the
 * stacks of a program without frame pointers are full of numbers that are not addresses, and reading again for each of
 * them would cost more than everything else. So each reading in vain doubles the number of misses that are ignored
 * before the next reading, to at most 1,023.
 */
final class Rereads {
    private static final int MOST_DOUBLINGS = 10;

    private int inVain;
    private int toSkip;

    /** Whether to read again after this miss. */
    boolean worthwhile() {
        if (toSkip > 0) {
            toSkip--;
            return false;
        }
        return true;
    }

    /** @param found whether the address was found after reading again */
    void tried(boolean found) {
        inVain = found ? 0 : Math.min(inVain + 1, MOST_DOUBLINGS);
        toSkip = found ? 0 : (1 << inVain) - 1;
    }
}
