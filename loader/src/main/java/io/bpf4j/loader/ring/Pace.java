package io.bpf4j.loader.ring;

/**
 * Keeps a consumer from being woken for each record. <i>Single consumer.</i>
 *
 * <p>A program that finishes a record wakes the consumer if the consumer has read all earlier records. That costs the
 * program an interrupt and the consumer a system call: more than writing and reading the record. A consumer that is as
 * fast as the programs has always read all earlier records, so it would be woken for nearly every one, and would slow
 * the programs down by being fast. So while many records arrive, the consumer pauses after each pass, and does not
 * release the last record: programs then wake nobody.
 *
 * <p>The first pause is short, and each is twice as long as the one before, up to a millisecond. A single record is
 * handled at once. A program thread that was not scheduled for a while writes its backlog in one burst; records after
 * this burst are delayed by a short pause only.
 *
 * <p>The pause is shorter if more than an eighth of the ring would fill meanwhile.
 *
 * <p><b>Programs that force wake-ups.</b> A program may force a wake-up when a certain number of bytes is unread, and
 * for each further record until they are read. Such a wake-up ends the pause. For some milliseconds after it the
 * consumer reads early: instead of pausing it looks for records at once, so that the number of unread bytes seldom gets
 * that large.
 *
 * <p>Tested by {@code PaceTest}.
 */
final class Pace {
    /** Nanoseconds of the first pause. */
    static final long FIRST_PAUSE = 100_000;

    /** Nanoseconds of the longest pause. */
    static final long MAX_PAUSE = 1_000_000;

    /** With fewer records per {@link #MAX_PAUSE} the consumer does not pause. */
    static final int MIN_LOAD = 64;

    /** The load is evaluated after so many records, or after {@link #MAX_PAUSE}. */
    private static final int MIN_EVALUATED = MIN_LOAD / 2;

    /** Nanoseconds of reading early after a wake-up that a program forced. */
    static final long EARLY = 10_000_000;

    /** The part of the ring that may fill during a pause: its size divided by this. */
    private static final int RING_DIVISOR = 8;

    private final long capacity;
    private long countedSince;
    private long records;
    private long bytes;
    private long fullPause;
    private long pause;
    private long forcedAt;
    private boolean forced;

    /** @param capacity of the smallest ring, in bytes */
    Pace(long capacity) {
        this.capacity = capacity;
    }

    /**
     * Records the result of a pass.
     *
     * @param newRecords number of records that were read
     * @param newBytes their size with headers
     * @param now {@code System.nanoTime()}
     */
    void passed(int newRecords, long newBytes, long now) {
        records += newRecords;
        bytes += newBytes;
        long interval = now - countedSince;
        if (interval < pause || (records < MIN_EVALUATED && interval < MAX_PAUSE)) {
            return;
        }
        boolean load = (double) records * MAX_PAUSE >= (double) interval * MIN_LOAD;
        fullPause = load ? Math.clamp(2 * fullPause, FIRST_PAUSE, MAX_PAUSE) : 0;
        pause = load ? (long) Math.min((double) fullPause, (double) interval * capacity / RING_DIVISOR / bytes) : 0;
        countedSince = now;
        records = 0;
        bytes = 0;
    }

    /** Nanoseconds to wait before the next pass; 0 if there is no load. */
    long pause() {
        return pause;
    }

    /** Records that a program forced a wake-up. */
    void forced(long now) {
        forced = true;
        forcedAt = now;
    }

    /** Whether the next pass comes early, because a program has recently forced a wake-up. */
    boolean isEarly(long now) {
        forced &= now - forcedAt < EARLY;
        return forced && pause > 0;
    }
}
