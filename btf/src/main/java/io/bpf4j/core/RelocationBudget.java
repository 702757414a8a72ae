package io.bpf4j.core;

/**
 * Limits the work of the relocations of one object. Normal relocations compare a few hundred members each. Malicious
 * types could make each of a hundred thousand relocations compare a hundred thousand members, so a loader must stop at
 * a limit. <i>Confined.</i>
 */
final class RelocationBudget {
    /** Members, values and parameters: about ten times the count of the largest tools. */
    private static final long MAX_COMPARED = 50_000_000;

    /** The cost of a candidate, in members. */
    static final int CANDIDATE = 20;

    /** The cost of a pair of types whose comparison is cached. */
    static final int COMPARISON = 50;

    private long left = MAX_COMPARED;

    /**
     * Adds to the count.
     *
     * @throws CoreException if the count exceeds the limit
     */
    void spend(long count) {
        left -= count;
        if (left < 0) {
            throw new CoreException("the object's CO-RE relocations compare more than " + MAX_COMPARED
                    + " members and values with those of the target: no compiler produces such types");
        }
    }
}
