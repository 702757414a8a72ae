package io.bpf4j.trace;

/**
 * A kind of events that an {@link Answer} lacks, or of begins and ends that belong to no latency. {@link Answer#gaps} counts
 * them.
 */
public enum Gap {
    /** An expression reads memory that isn't there, or an argument that the site doesn't have. */
    UNREADABLE("unreadable", "left out: a value could not be read"),
    /** There was no room for another combination of keys: see {@link Question#withMaxKeys}. */
    NO_ROOM_FOR_KEY("full", "left out: no room for more keys"),
    /** Ends of a latency without a begin. */
    UNPAIRED_ENDS("unpaired_ends", "without a begin"),
    /** Begins of a latency that another begin replaced. */
    UNPAIRED_BEGINS("unpaired_begins", "begun again before the end"),
    /** Begins of a latency that have no end yet. */
    STILL_OPEN("", "without an end yet"),
    /** Begins of a latency for which there was no room. */
    NO_ROOM_FOR_BEGIN("pairs_full", "left out: too many open at once"),
    /** Calls whose returns the kernel dropped, because the thread was in 64 calls with probed returns already. */
    RETURNS_DROPPED("returns_dropped", "without a return: the kernel follows 64 nested calls of a thread"),
    /**
     * Calls and returns of functions with which the program could not follow how deep the thread is nested, because there was
     * no room for the thread. Calls whose returns the kernel drops may be missing in {@link #RETURNS_DROPPED}.
     */
    NESTINGS_LOST("nestings_lost", "at an unknown depth, so more returns may be dropped"),
    /**
     * Events that are counted without their stack: there was no room for it, another stack had the same hash, or the kernel
     * could not read it.
     */
    STACKS_LOST("stacks_lost", "without a stack: it could not be read or kept"),
    /**
     * Values that may be missing in {@link Distribution#min} or {@link Distribution#max}, because other threads
     * interrupted each attempt to store them. Counts, sums and buckets include them.
     */
    EXTREMES_LOST("extremes_lost", "perhaps not in min or max: threads interrupted each other"),
    /** Events that are not shown, because the ring buffer was full. */
    LOST("lost", "not shown, because they came too fast");

    /** The variable of {@code question.bpf.c} with the number; empty if it is counted otherwise. */
    final String variable;

    private final String text;

    Gap(String variable, String text) {
        this.variable = variable;
        this.text = text;
    }

    /** A description that follows the number of events: {@code 3 events without a begin}. */
    public String text() {
        return text;
    }

    /** Whether the answer lacks these events. A begin or an end alone belongs to no latency. */
    public boolean isMissing() {
        return switch (this) {
            case UNPAIRED_ENDS, UNPAIRED_BEGINS, STILL_OPEN -> false;
            default -> true;
        };
    }
}
