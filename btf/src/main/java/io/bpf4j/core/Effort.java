package io.bpf4j.core;

/**
 * How much the relocations of one object may look at. Honest ones look at a few hundred members each. But types can be made
 * so that each of a hundred thousand relocations compares a hundred thousand members, and a loader has to say no at some
 * point. <i>Confined.</i>
 */
final class Effort {
    /** Members, values and parameters: some ten times what the largest tools come to. */
    private static final long MOST = 50_000_000;

    /** What a candidate costs, in members. */
    static final int CANDIDATE = 20;

    /** What a pair of types costs whose comparison is remembered. */
    static final int ANSWER = 50;

    private long left = MOST;

    /**
     * Notes that so many are looked at.
     *
     * @throws CoreException if that is more than may be
     */
    void spend(long count) {
        left -= count;
        if (left < 0) {
            throw new CoreException("the object's CO-RE relocations compare more than " + MOST
                    + " members and values with those of the target: no compiler makes such types");
        }
    }
}
