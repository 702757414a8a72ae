package io.bpf4j.trace.internal.expression;

/**
 * A field of an event that is filled only if something reads it.
 *
 * <p>Tested by {@code GeneratedFunctionTest}.
 */
public enum Field {
    /** The time, {@code CLOCK_MONOTONIC} in nanoseconds. */
    NSECS(1),
    /** The id of the cgroup, version 2. */
    CGROUP(2),
    /** The user's id. */
    UID(4),
    /** The CPU's number. */
    CPU(8),
    /** The name of the thread. */
    COMM(16),
    /** The numbers of the process and the thread. */
    THREAD(32);

    private final int bit;

    Field(int bit) {
        this.bit = bit;
    }

    /** Its bit in {@code enum question_field} of {@code question.h}. */
    public int bit() {
        return bit;
    }
}
