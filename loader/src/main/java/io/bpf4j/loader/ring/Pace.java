package io.bpf4j.loader.ring;

import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a consumer from being woken for each record. <i>Single consumer.</i>
 *
 * <p>A program that finishes a record wakes the consumer if the consumer has read all earlier records. That costs the
 * program an interrupt and the consumer a system call: more than to write and to read the record. A consumer that is as
 * fast as the programs has always read all earlier records, so it would be woken for nearly every one, and would slow
 * the programs down by being fast. So after a pass over many records the next pass comes a millisecond later: programs
 * then wake nobody but for the first record of the millisecond. After a pass over few records there is no pause; a
 * single record is handled at once. Nor is there one after records that came slowly, of which many had gathered because
 * the consumer had no processor: it would delay the next ones, too.
 *
 * <p>The pause is shorter if the records that came in the last one would fill more than an eighth of the ring in a
 * millisecond.
 *
 * <p>Tested by {@code PaceTest}.
 */
final class Pace {
    /** Nanoseconds between two passes, at most. */
    static final long LONGEST = 1_000_000;

    /** Fewer records than that in a pass, or in {@link #LONGEST}, are no load. */
    static final int MANY = 64;

    /** The part of the ring that may fill during a pause: its size divided by this. */
    private static final int SHARE = 8;

    private final long capacity;
    private long lastPass;
    private long pause;

    /** @param capacity of the smallest ring, in bytes */
    Pace(long capacity) {
        this.capacity = capacity;
    }

    /** Waits until it is time for the next pass. */
    void await() {
        if (pause > 0) {
            LockSupport.parkNanos(pause);
            pause = 0;
        }
    }

    /**
     * Takes the result of a pass.
     *
     * @param records how many were read
     * @param bytes their size with headers
     * @param now {@code System.nanoTime()}
     */
    void passed(int records, long bytes, long now) {
        long interval = now - lastPass;
        lastPass = now;
        boolean load = records >= MANY && (double) records * LONGEST >= (double) interval * MANY;
        pause = load ? (long) Math.min(LONGEST, (double) interval * capacity / SHARE / bytes) : 0;
    }

    /** Nanoseconds that the next {@link #await} waits. */
    long pause() {
        return pause;
    }
}
