package io.bpf4j.trace.stack;

/**
 * Decides whether mappings or symbols are read again because an address was not found in them. <i>Confined.</i>
 *
 * <p>Mappings and symbols grow while a process runs, so a missing address is a reason to read them again. But the
 * stacks of a program without frame pointers are full of numbers that are not addresses, and reading again for each of
 * them would cost more than everything else. So each reading that does not find the address doubles the number of
 * misses that are ignored before the next reading, to at most 1,023.
 */
final class Rereads {
    private static final int MAX_DOUBLINGS = 10;

    private int failures;
    private int toSkip;

    /** Whether to read again after this miss. */
    boolean isDue() {
        if (toSkip > 0) {
            toSkip--;
            return false;
        }
        return true;
    }

    /** @param found whether the address was found after reading again */
    void record(boolean found) {
        failures = found ? 0 : Math.min(failures + 1, MAX_DOUBLINGS);
        toSkip = found ? 0 : (1 << failures) - 1;
    }
}
